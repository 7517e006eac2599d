"""How the suite's tasks are measured: the paper's protocols, one whose noise varies over the space,
and real noise.

varying-untold   υ(x) = level·R·(1/4 + 3/2·u₁), u₁ the first coordinate in the unit cube; told
                 nothing
measured-untold  the outcome of one real training run drawn at random; told nothing
measured         the same, told the standard deviation of such runs at x
"""

from typing import Final, final

from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo_lab.problems import stream
from ceibo_lab.problems.tables import table
from ceibo_lab.protocols import PROTOCOLS, Observed
from ceibo_lab.suite.tasks import Task

MEASURED: Final = ("measured-untold", "measured")
VARYING: Final = "varying-untold"


@final
class NoisyTask:
    """A task under a protocol, for one replication: measurement t always meets the same random
    numbers.
    """

    def __init__(self, task: Task, protocol: str, level: float, seed: int) -> None:
        known = (*PROTOCOLS, VARYING, *MEASURED)
        if protocol not in known:
            raise InputError(f"protocol must be one of {', '.join(known)}, got {protocol!r}.")
        self.task, self.protocol, self.level = task, protocol, level
        self._uniform, self._normal = stream(seed, "noise level"), stream(seed, "noise")
        self._table = table(task.name) if protocol in MEASURED else None

    def measure(self, u: Array) -> Observed:
        """The next measurement, at u (d,) of the unit cube."""
        share, z = float(self._uniform.random()), float(self._normal.standard_normal())
        if self._table is not None:
            std = self._table.std(u)
            y = self._table.outcome(u, int(share * self._table.repetitions))
            return Observed(y, std if self.protocol == "measured" else float("nan"), std)
        f, largest = float(self.task.truth(u[None, :])[0]), self.level * self.task.range
        if self.protocol == VARYING:
            std = largest * (0.25 + 1.5 * float(u[0]))
            return Observed(f + std * z, float("nan"), std)
        return PROTOCOLS[self.protocol](f, largest, share, z)
