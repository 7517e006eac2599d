"""Seconds of one cold suggestion by every library on the same data, with one BLAS thread."""

import gc
import itertools
import statistics
from collections import Counter
from functools import partial
from typing import Any, Final
from unittest import mock

import numpy as np
from scipy.linalg import lapack
from threadpoolctl import threadpool_limits

from bench.data import DIMENSION, KINDS, Data, noisy_function
from bench.process import answer, progress, run_child, time_call
from ceibo import acquisition
from ceibo.gp import fit_gp, likelihood, linalg

DATA_SETS: Final = 3  # repeats go round these
REPEATS: Final = {20: 9, 50: 9, 150: 9, 300: 6, 1000: 3}
QUICK_REPEATS: Final = {20: 3, 50: 3, 150: 3}


def collect(quick: bool) -> dict[str, Any]:
    """Seconds by kind of data, n and peer, and ceibo's own split and floor."""
    repeats = QUICK_REPEATS if quick else REPEATS
    request = {"repeats": {str(n): count for n, count in repeats.items()}}
    answered: dict[str, Any] = run_child("bench.speed", request)
    return answered


def measure(request: dict[str, Any]) -> dict[str, Any]:
    """The child's work: peers take turns, so that a disturbance affects all of them alike."""
    from bench import peers  # torch is imported here, after the parent has set the thread limits

    peers.quiet()
    # ceibo would use a second thread on large matrices; here all sides have one.
    with threadpool_limits(1), mock.patch.object(linalg, "blas_threads", return_value=1):
        for prepare in peers.PEERS.values():
            prepare(noisy_function(15, 0), 0)()
        gc.freeze()  # so that no collection during a measurement visits what the imports made
        rows = []
        for kind, (size, repeats) in itertools.product(KINDS, request["repeats"].items()):
            n = int(size)
            progress(f"speed: {kind} data, n = {n}")
            times: dict[str, list[float]] = {name: [] for name in peers.PEERS}
            for repeat in range(repeats):
                data = noisy_function(n, repeat % DATA_SETS, kind)
                for name, prepare in peers.PEERS.items():
                    action = prepare(data, repeat)
                    gc.collect()
                    times[name].append(time_call(action))
            inside = _inside([noisy_function(n, seed, kind) for seed in range(DATA_SETS)])
            row = {"data": kind, "n": n, "repeats": repeats}
            rows.append(row | {"seconds": _summary(times), "ceibo": inside})
    return {"dimension": DIMENSION, "rows": rows}


def _summary(times: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    return {
        name: {"median": statistics.median(values), "minimum": min(values)}
        for name, values in times.items()
    }


def _inside(data_sets: list[Data]) -> dict[str, float]:
    """Medians of ceibo's time by part, and of LAPACK's time for its factorizations alone."""
    parts: dict[str, list[float]] = {"fit": [], "maximise": [], "evaluations": [], "floor": []}
    for data in data_sets:
        sizes = evaluated_sizes(data)
        parts["evaluations"].append(sum(sizes.values()))
        fit = partial(fit_gp, data.X, data.y, data.noise)
        parts["fit"].append(min(time_call(fit) for _ in range(3)))
        built = acquisition.build("corrected-ei", fit().gp)
        search = partial(acquisition.maximize, built)
        parts["maximise"].append(min(time_call(search) for _ in range(3)))
        sizes[len(data.X)] += 1  # the final model
        floor = [count * min(factorization_times(size)) for size, count in sizes.items()]
        parts["floor"].append(sum(floor))
    return {name: statistics.median(values) for name, values in parts.items()}


def evaluated_sizes(data: Data) -> Counter[int]:
    """How many times the fit evaluates the likelihood, by the number of rows it does so on."""
    sizes: Counter[int] = Counter()
    original = likelihood.Objective.__call__

    def count_call(self: likelihood.Objective, theta: Any) -> Any:
        sizes[len(self.data.X)] += 1
        return original(self, theta)

    with mock.patch.object(likelihood.Objective, "__call__", count_call):
        fit_gp(data.X, data.y, data.noise)
    return sizes


def factorization_times(n: int, repeats: int = 5) -> list[float]:
    """Seconds of LAPACK's Cholesky factor and inverse (potrf, potri) of an n×n matrix."""
    rng = np.random.default_rng(n)
    root = rng.standard_normal((n, n)) / np.sqrt(n)
    K = np.asfortranarray(root @ root.T + np.eye(n))

    def factorize_and_invert(work: Any) -> None:
        factor = lapack.dpotrf(work, lower=1, overwrite_a=1)[0]
        lapack.dpotri(factor, lower=1, overwrite_c=1)

    seconds = []
    for _ in range(repeats):
        work = K.copy(order="F")
        seconds.append(time_call(partial(factorize_and_invert, work)))
    return seconds


if __name__ == "__main__":
    answer(measure)
