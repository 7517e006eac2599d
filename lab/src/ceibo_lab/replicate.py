"""One cell of an experiment, carried out: from its data to its record.

A replication that fails is recorded as a failure, with its traceback; it is never started again
with another seed. Everything in a record but `run` (its times) is a function of the cell and the
library versions.
"""

import time
import traceback
from importlib.metadata import version

from threadpoolctl import threadpool_limits

from ceibo.decide.record import ALGORITHM, versions
from ceibo.errors import InputError
from ceibo_lab.kinds import KINDS
from ceibo_lab.kinds.benchmark import JUDGE, RECOMMEND_EVERY
from ceibo_lab.kinds.require import entry_of
from ceibo_lab.methods import METHODS
from ceibo_lab.optional import MissingPackageError
from ceibo_lab.record import FORMAT, Cell, Record
from ceibo_lab.run import OutOfTimeError, Watch


def replicate(cell: Cell, deadline: float = float("inf")) -> Record | None:
    """The record of a cell, or None if the time given was over before it was finished."""
    if cell.kind not in KINDS:
        raise InputError(f"kind must be one of {', '.join(KINDS)}, got {cell.kind!r}.")
    record: Record = {
        "format": FORMAT,
        "key": cell.key,
        "cell": cell.to_json(),
        "versions": versions(),
        "algorithm": ALGORITHM,
    }
    since = time.perf_counter()
    times: Record = {}
    try:
        with threadpool_limits(1):
            found = KINDS[cell.kind](cell, Watch(deadline))
        times = found.pop("times", {})
        # a kind may have settings of its own
        record |= {"status": "done", "settings": _settings(cell), **found}
    except OutOfTimeError:
        return None
    except MissingPackageError:
        raise
    except ImportError as error:  # says something about the machine, nothing about the cell
        raise InputError(
            f"{cell.method} cannot run here: {error}. Install what it needs, or leave it out."
        ) from error
    except Exception as error:
        record |= {
            "status": "failed",
            "error": f"{type(error).__name__}: {error}",
            "traceback": "".join(traceback.format_exception(error)[-3:]),
            **_failed_with(cell),
        }
    return record | {"run": {"seconds": round(time.perf_counter() - since, 3), **times}}


def _failed_with(cell: Cell) -> Record:
    """The versions of an outside method's packages, which a finished record has in its settings."""
    entry = entry_of(cell)
    packages = () if entry is None else entry.packages
    return {"settings": {name: version(name) for name in packages}} if packages else {}


def _settings(cell: Cell) -> Record:
    """Of the paper's methods and runs; of the judge's fit where the method has no model."""
    own = METHODS[cell.method].describe() if cell.method in METHODS else {}
    return {
        **own,
        **({} if "fit" in own else {"judge_restarts": JUDGE.restarts}),
        "initial": "3 scrambled Sobol points per dimension",
        "recommended_every": RECOMMEND_EVERY,
    }
