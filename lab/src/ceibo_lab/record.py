"""A cell is everything one replication depends on, as plain data; a record is what came out.

Records are JSON: format, key, cell, versions, algorithm (ceibo's arithmetic), status, settings,
trace, digest and run (its times).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, final

from ceibo.errors import InputError

FORMAT: Final = 1  # of records
Record = dict[str, Any]


@final
@dataclass(frozen=True, order=True)
class Cell:
    """One replication.

    `kind` says what is done (see kinds/), `level` is the noise as a share of the problem's
    range (for draws of a Gaussian process, whose range is random, the standard deviation itself),
    `steps` the evaluations after the initial design.
    """

    kind: str
    problem: str
    variant: str
    protocol: str
    level: float
    method: str
    seed: int
    steps: int

    @property
    def key(self) -> str:
        """Unique among cells, readable, the same in every version."""
        met = f"{self.kind}:{self.problem}:{self.variant}:{self.protocol}:{self.level:.6g}"
        return f"{met}:{self.method}:T{self.steps}:s{self.seed}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Cell":
        names = [field.name for field in fields(Cell)]
        if missing := [name for name in names if name not in data]:
            raise InputError(f"a cell has {', '.join(names)}; {', '.join(missing)} missing.")
        return Cell(**{name: data[name] for name in names})
