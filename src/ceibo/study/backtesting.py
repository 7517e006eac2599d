"""Would ceibo have found the best of what a study has measured, and how soon?"""

from dataclasses import replace

from ceibo.checks import check_whole
from ceibo.decide.backtest import Backtest, backtest_of
from ceibo.errors import InputError
from ceibo.study.study import Study

__all__ = ["Backtest", "backtest"]


def backtest(study: Study, *, seeds: int = 10) -> Backtest:
    """Replays the search among the settings that a study has measured, such as past data added.

    It says when ceibo would have taken the best of them, beside the order in which they were
    measured. Only these settings can be taken; failures are left out.

    Args:
        study: of one objective; `Study.add_all` adds past data.
        seeds: how many replays, which differ in their initial designs.

    Example:
        >>> import ceibo
        >>> study = ceibo.Study.create({"x": ceibo.Float(0, 1)})
        >>> study.add_all([({"x": x / 20}, (x / 20 - 0.7) ** 2) for x in range(21)])[-1]
        20
        >>> found = ceibo.backtest(study, seeds=3)
        >>> found.raw.own, found.random
        (15, 11.0)
    """
    if study.outcomes is not None:
        raise InputError("a backtest is of one objective, and the study has several outcomes.")
    found = backtest_of(study.belief, range(check_whole(seeds, "seeds")))
    trials = study.trials  # whose settings may be outside the space by now
    raw, believed = (
        replace(each, params=trials[each.number].params) for each in (found.raw, found.believed)
    )
    return replace(found, raw=raw, believed=believed)
