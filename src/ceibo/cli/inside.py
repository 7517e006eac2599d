"""What the verbs need of a study beyond its public names: the only private access of this package.

Each function stands for a method that `Study` is to have.
"""

from collections.abc import Sequence

from ceibo.decide import Measurement
from ceibo.decide.space import Params
from ceibo.study import Study
from ceibo.study.store import NewTrial

Row = tuple[Params, Measurement | str]  # a setting, and what was measured there or why it failed


def add_all(study: Study, rows: Sequence[Row]) -> None:
    """Stores existing measurements and failures in one transaction."""
    trials = []
    for params, outcome in rows:
        checked, source = study.space.check(params), {"source": "added"}
        if isinstance(outcome, Measurement):
            trials.append(NewTrial(checked, source, measurement=outcome))
        else:
            trials.append(NewTrial(checked, source, reason=outcome))
    study._store.create_trials(study._id, trials)


def peek(study: Study) -> tuple[int, Params]:
    """Number and parameters of the next suggestion, which is not recorded."""
    snapshot = study._refresh()
    number = len(snapshot.trials)
    return number, dict(study._suggest(snapshot, number, study._start_values(number)).params)


def revision(study: Study) -> int:
    """A number that grows with everything that is recorded."""
    return study._refresh().seq
