"""When a run ends, and how long the trials of a dead worker wait."""

from dataclasses import dataclass, replace
from typing import Final, final

from ceibo.checks import check_positive, check_whole

DEFAULT_TRIALS: Final = 50


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
        for name in ("cost", "timeout", "lease"):
            value = getattr(self, name)
            if value is not None or name == "lease":
                object.__setattr__(self, name, check_positive(value, name))
        for name in ("n_trials", "max_failures"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, check_whole(value, name))

    def or_default(self) -> "Limits":
        """The same limits, with DEFAULT_TRIALS trials if nothing else would end the run."""
        endless = self.n_trials is None and self.cost is None and self.timeout is None
        return replace(self, n_trials=DEFAULT_TRIALS) if endless else self
