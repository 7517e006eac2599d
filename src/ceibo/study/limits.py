"""When a run ends, and how long the trials of a dead worker wait."""

from dataclasses import dataclass, replace
from typing import Final, final

from ceibo.checks import LONGEST_LEASE, check_cost, check_seconds, check_whole

DEFAULT_TRIALS: Final = 50
SHORTEST_LEASE: Final = 0.1
"""Seconds; what a database takes to answer must not let a lease lapse."""


@final
@dataclass(frozen=True)
class Limits:
    """When a run ends, and how long the trials of a dead worker wait."""

    n_trials: int | None = None
    cost: float | None = None
    timeout: float | None = None
    max_failures: int | None = 3
    lease: float = 60.0

    def __post_init__(self) -> None:
        if self.cost is not None:
            object.__setattr__(self, "cost", check_cost(self.cost))
        if self.timeout is not None:
            object.__setattr__(self, "timeout", check_seconds(self.timeout, "timeout"))
        lease = check_seconds(self.lease, "lease", SHORTEST_LEASE, LONGEST_LEASE)
        object.__setattr__(self, "lease", lease)
        for name in ("n_trials", "max_failures"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, check_whole(value, name))

    def or_default(self) -> "Limits":
        """The same limits, with DEFAULT_TRIALS trials if nothing else would end the run."""
        endless = self.n_trials is None and self.cost is None and self.timeout is None
        return replace(self, n_trials=DEFAULT_TRIALS) if endless else self
