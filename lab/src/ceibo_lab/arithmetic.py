"""With which version of ceibo's arithmetic a record was made, and which libraries."""

from typing import Final

from ceibo.decide.record import UNDOUBTED
from ceibo_lab.methods.peers import PEERS
from ceibo_lab.record import Record

_OURS: Final = ("torch", "gpytorch", "botorch", "optuna", "bofire")
_PACKAGES: Final = dict.fromkeys([*_OURS, *(p for each in PEERS.values() for p in each.packages)])
# The first arithmetic whose settings say whether outliers are discounted.
_SAYS_OUTLIERS = 3
_DESIGNS_WITH_RULES: Final = 4
"""The first arithmetic with today's initial designs in spaces with rules."""


def algorithm(record: Record) -> int | None:
    """The version of the arithmetic; None: the record is older than versions in records."""
    if "algorithm" in record:
        return int(record["algorithm"])
    return _SAYS_OUTLIERS if "outliers" in settings(record) else None


def present_since(kind: str) -> int:
    """Since which arithmetic cells of a kind are as today's, where nothing is doubted."""
    return _DESIGNS_WITH_RULES if kind == "rules" else UNDOUBTED


def is_older(record: Record) -> bool:
    """Whether the record is of an older arithmetic than that of today, where nothing is doubted."""
    return (algorithm(record) or 0) < present_since(record["cell"]["kind"])


def describe(record: Record) -> str:
    """The arithmetic in words, with what is known to have been otherwise."""
    found = algorithm(record)
    if found is not None:
        return f"arithmetic {found}"
    said = settings(record)
    if said.get("fit") == "ml" and "restarts" not in said:
        return "arithmetic not named, likelihood maximised from one start"
    return "arithmetic not named"


def settings(record: Record) -> Record:
    """The settings of a record; a failure has none."""
    found: Record = record.get("settings", {})
    return found


def libraries(record: Record) -> dict[str, str]:
    """The versions of everything that mattered, those of the method's packages included."""
    versions = dict(record["versions"])
    for name in _PACKAGES:
        if isinstance(found := settings(record).get(name), str):
            versions[name] = found
    return versions
