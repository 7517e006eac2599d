"""What scikit-learn's `fit` knows while it evaluates candidates, and the file of a search."""

import inspect
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, final

import joblib
from sklearn.utils import check_random_state

from ceibo.decide import Settings
from ceibo.errors import InputError
from ceibo.integrations.sklearn.fingerprint import fingerprint
from ceibo.integrations.sklearn.kept import Kept, Out
from ceibo.integrations.sklearn.metric import metric_of
from ceibo.integrations.sklearn.space import Parameters


@final
class Fits:
    """What scikit-learn's `fit` gathers while it evaluates candidates, under its private names."""

    def __init__(self, evaluate: Callable[..., Any]) -> None:
        self._known = inspect.getclosurevars(evaluate).nonlocals

    def fingerprints(self, search: Any, values: object) -> dict[str, str]:
        """Tells apart searches whose scores cannot be compared; refuses folds that change."""
        known = self._known
        X, y, splits = self._divided(search)
        options = known["fit_and_score_kwargs"]
        return {
            "data": str(joblib.hash((X, y))),
            "folds": str(joblib.hash(splits)),
            "fit": fingerprint([options[name] for name in ("fit_params", "score_params")]),
            "estimator": fingerprint(search.estimator),
            "scoring": fingerprint(search.scoring),
            "param_distributions": fingerprint(values),
            "error_score": str(search.error_score),
            "return_train_score": str(search.return_train_score),
        }

    def _divided(self, search: Any) -> tuple[Any, Any, Any]:
        """The data and their splits."""
        known = self._known
        X, y, routed = known["X"], known["y"], known["routed_params"]
        cv = search.cv  # splits once
        splits = cv.split(X, y, **routed.splitter.split)
        again = list(cv.splitter.split(X, y, **routed.splitter.split))
        if joblib.hash(splits) != joblib.hash(again):
            raise InputError(
                "storage: cv draws other folds every time, and a search that goes on would compare"
                " scores on different ones; give cv a random_state."
            )
        return X, y, splits

    def open_storage(self, search: Any, parameters: Parameters, settings: Settings) -> Kept | None:
        """The file of the search, checked against what it is about now."""
        if search.storage is None:
            return None
        is_new = not Path(search.storage).exists()
        about = {
            "search": 1,
            "seed": draw_seed(search) if is_new or search.random_state is not None else None,
            "space": parameters.shown.to_json(),
            "settings": settings.to_json(),
            "metric": metric_of(search.scoring, search.refit, search.metric),
            "data": self.fingerprints(search, parameters.sample()),
        }
        return Kept(search.storage, json.loads(json.dumps(about)))

    def restore(self, search: Any, params: Sequence[Any], out: Sequence[Out]) -> dict[str, Any]:
        """The table of results of candidates that were fitted before, as if they had been now."""
        known = self._known
        known["all_candidate_params"].extend(params)
        known["all_out"].extend(out)
        make = search._format_results  # noqa: SLF001 - the table that `fit` makes of its fits
        known["results"].update(make(params, search.n_splits_, out))
        return known["results"]  # type: ignore[no-any-return]  # a dict

    def last(self, count: int) -> list[Out]:
        """What was noted of the last so many fits."""
        return list(self._known["all_out"][-count:])


def draw_seed(search: Any) -> int:
    """The seed of all random numbers of a search."""
    return int(check_random_state(search.random_state).randint(2**31 - 1))
