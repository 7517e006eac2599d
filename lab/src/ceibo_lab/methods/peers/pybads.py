"""PyBADS: Bayesian adaptive direct search, which runs by itself and calls the objective.

It runs in a thread of its own, which waits where it calls the objective. Numbers are coordinates in
[0, 1], whole ones rounded; it has no categories.
"""

import queue
import threading
import warnings
import weakref
from collections.abc import Mapping
from typing import Any, Final, final

import numpy as np
from pybads import BADS

from ceibo.decide import Space
from ceibo.gp.inputs import Array

_STOP: Final = object()
_LEAST: Final = 10  # trials that another run needs; fewer measure the answer again


class _StoppedError(Exception):
    """The run is no longer wanted."""


@final
class _Exchange:
    """The objective of a run: points come from its thread, and values go there."""

    def __init__(self) -> None:
        self.points: queue.Queue[Any] = queue.Queue()
        self.values: queue.Queue[Any] = queue.Queue()

    def __call__(self, x: Array) -> Any:
        self.points.put(np.array(x, dtype=np.float64).ravel())
        value = self.values.get()
        if value is _STOP:
            raise _StoppedError
        return value


def _run(bads: Any, exchange: _Exchange) -> None:
    """A whole run; its result, or what went wrong, comes after its points."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = bads.optimize()
        exchange.points.put((float(result["fval"]), np.array(result["x"]).ravel()))
    except _StoppedError:
        return
    except Exception as error:
        exchange.points.put(error)


@final
class Pybads:
    """Uncertainty handling is on, unless values are told to be exact; told noise is passed on.

    A run begins at a random point and with Sobol points. It is told how many trials there will be,
    and keeps the last ten to measure its answer again. One that ends early is followed by another,
    with the trials that are left. Recommends the result of the run that ended lowest, and before
    any has ended the incumbent.
    """

    def __init__(self, space: Space, seed: int, trials: int) -> None:
        self.space, self._trials, self._told = space, trials, 0
        self._rng = np.random.default_rng(seed)
        self._exchange = _Exchange()
        self._options: dict[str, Any] = {}  # what the first value says of the noise
        self._start, self._bads = self._prepared(trials)
        self._runs = False
        self._point: Array | None = None  # (d,) where the run waits for a value
        self._ended: list[tuple[float, Array]] = []  # value and place (d,) of results
        weakref.finalize(self, self._exchange.values.put, _STOP)

    def ask(self) -> Mapping[str, Any]:
        if self._told == 0:  # where the run will begin, which is to know of the noise
            return self._setting(self._incumbent())
        self._listen()
        left = self._trials - self._told
        if self._point is None and left >= _LEAST:
            self._start, self._bads = self._prepared(left)
            self._begin()
        return self._setting(self._result() if self._point is None else self._point)

    def tell(self, value: float, noise: float | None) -> None:
        if self._told == 0:
            named = "specify_target_noise" if noise else "uncertainty_handling"
            self._options = {named: noise != 0.0}
            self._start, self._bads = self._prepared(self._trials, self._start)
            self._begin()
        self._told += 1
        if self._point is not None:
            self._point = None
            self._exchange.values.put((value, noise) if noise else value)

    def best(self) -> Mapping[str, Any] | None:
        self._listen()
        if self._ended:
            return self._setting(self._result())
        # before there is a model, the design is under way
        return self._setting(self._incumbent()) if hasattr(self._bads, "u_best") else None

    def _prepared(self, trials: int, start: Array | None = None) -> tuple[Array, Any]:
        """A run of so many trials, and the point (d,) it is begun with."""
        dimension = len(self.space)
        seed = int(self._rng.integers(2**31))
        x0 = self._rng.random(dimension) if start is None else start
        quiet = {"display": "off", "show_tips": False, "random_seed": seed}
        low, high = np.zeros(dimension), np.ones(dimension)
        options = {**quiet, "max_fun_evals": trials, **self._options}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return x0, BADS(self._exchange, x0, low, high, low, high, options=options)

    def _begin(self) -> None:
        self._runs = True
        threading.Thread(target=_run, args=(self._bads, self._exchange), daemon=True).start()
        self._listen()

    def _listen(self) -> None:
        """Waits until the run waits, or has ended."""
        if not self._runs or self._point is not None:
            return
        found = self._exchange.points.get()
        if isinstance(found, Exception):
            raise found
        if isinstance(found, tuple):
            self._ended.append(found)
            self._runs = False
        else:
            self._point = found

    def _incumbent(self) -> Array:
        """Where the run is (d,)."""
        return np.asarray(self._bads.var_transf.inverse_transf(self._bads.u)).ravel()

    def _result(self) -> Array:
        return min(self._ended, key=lambda end: end[0])[1]

    def _setting(self, point: Array) -> Mapping[str, Any]:
        return self.space.from_unit(np.clip(point, 0.0, 1.0))
