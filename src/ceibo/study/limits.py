"""When a run ends, and how long the trials of a dead worker wait."""

from dataclasses import dataclass, replace
from typing import Final, final

from ceibo.checks import LONGEST_LEASE, check_confirm, check_cost, check_seconds, check_whole
from ceibo.errors import InputError

DEFAULT_TRIALS: Final = 50


@final
class Usual(int):
    """A number that nobody gave."""


USUAL_FAILURES: Final = Usual(3)
SHORTEST_LEASE: Final = 0.1
"""Seconds; what a database takes to answer must not let a lease lapse."""


@final
@dataclass(frozen=True)
class Limits:
    """When a run ends, and how long the trials of a dead worker wait."""

    n_trials: int | None = None
    cost: float | None = None
    timeout: float | None = None
    max_failures: int | None = USUAL_FAILURES
    lease: float = 60.0
    confirm: float = 0
    """The share of the trials, or their number, that go into the answer at the end."""

    def __post_init__(self) -> None:
        if self.cost is not None:
            object.__setattr__(self, "cost", check_cost(self.cost))
        if self.timeout is not None:
            object.__setattr__(self, "timeout", check_seconds(self.timeout, "timeout"))
        lease = check_seconds(self.lease, "lease", SHORTEST_LEASE, LONGEST_LEASE)
        object.__setattr__(self, "lease", lease)
        object.__setattr__(self, "confirm", check_confirm(self.confirm))
        for name in ("n_trials", "max_failures"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, Usual):
                object.__setattr__(self, name, check_whole(value, name))

    @property
    def first_counts(self) -> bool:
        """Whether an exception in a study's first trial counts like others, and ends no run."""
        return not isinstance(self.max_failures, Usual)

    def or_default(self) -> "Limits":
        """The same limits, with DEFAULT_TRIALS trials if nothing else would end the run."""
        endless = self.n_trials is None and self.cost is None and self.timeout is None
        limits = replace(self, n_trials=DEFAULT_TRIALS) if endless else self
        limits.check_confirm()
        return limits

    def check_confirm(self) -> None:
        """Refuses a last look in a run whose number of trials is not known, or is less."""
        if self.confirm and self.n_trials is None:
            raise InputError(
                f"confirm={self.confirm:g} is about the last trials of a run, and their number is"
                " not known; give n_trials too."
            )
        if self.n_trials is not None and self.confirm > self.n_trials:
            raise InputError(
                f"confirm={self.confirm:g} is more than all {self.n_trials} trials; give a share of"
                " them, such as 0.2, or fewer."
            )

    @property
    def confirm_from(self) -> int | None:
        """The number of the first trial that goes into the answer; None if none does."""
        if not self.confirm or self.n_trials is None:
            return None
        count = self.confirm if self.confirm >= 1 else max(round(self.confirm * self.n_trials), 1)
        return self.n_trials - int(count)
