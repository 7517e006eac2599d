"""Measure the tables of `tables`: train a learner at every cell of a grid, once per repetition.

    python -m pages.problem_tables all --out lab/src/ceibo_lab/problems/data --jobs 2

Data sets come with scikit-learn. Repetition r draws its training rows, its test rows and the
learner's seed from random numbers that depend on r alone, so that it is one surface over the whole
grid. The share of wrong labels is stored as a count; for a regression the root mean square error is
divided by the targets' standard deviation over the whole data set. Needs the extras `paper` and
`sklearn`.
"""

import argparse
import itertools
import platform
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from ceibo.gp.inputs import Array
from ceibo.gp.linalg import limited_blas
from ceibo_lab.problem import stream
from ceibo_lab.problems.tables import Axis

# rows for which `limited_blas` allows one thread, so that a table does not depend on the machine
_SMALL: Final = 1


@final
@dataclass(frozen=True, eq=False)
class Split:
    """What one repetition trains and tests with."""

    train: Array  # (n, features)
    train_targets: Array
    test: Array  # (m, features)
    test_targets: Array
    unit: float  # the targets' standard deviation over the whole data set
    seed: int


@final
@dataclass(frozen=True)
class Recipe:
    """How a table is measured.

    Args:
        data: name of the loader in sklearn.datasets.
        scale: features are divided by it.
        rows: number of training and of test rows.
        axes: the grid.
        repetitions: number of surfaces.
        fit: settings by name and a split -> the learner, trained.
        counts: labels are predicted, and wrong ones counted.
    """

    data: str
    scale: float
    rows: tuple[int, int]
    axes: tuple[Axis, ...]
    repetitions: int
    fit: Callable[[dict[str, float], Split], Any]
    counts: bool


def _fit_svm(settings: dict[str, float], split: Split) -> Any:
    from sklearn.svm import SVC

    return SVC(C=settings["C"], gamma=settings["gamma"]).fit(split.train, split.train_targets)


def _fit_mlp(settings: dict[str, float], split: Split) -> Any:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier(
        (int(settings["hidden_units"]),),
        learning_rate_init=settings["learning_rate"],
        alpha=settings["alpha"],
        batch_size=50,
        max_iter=15,
        random_state=split.seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # training is short on purpose
        return network.fit(split.train, split.train_targets)


def _fit_boosting(settings: dict[str, float], split: Split) -> Any:
    from sklearn.ensemble import GradientBoostingRegressor

    trees = GradientBoostingRegressor(
        learning_rate=settings["learning_rate"],
        subsample=settings["subsample"],
        min_samples_leaf=int(settings["min_samples_leaf"]),
        n_estimators=25,
        max_depth=4,
        random_state=split.seed,
    )
    return trees.fit(split.train, split.train_targets)


RECIPES: Final = {
    "svm": Recipe(
        "load_digits",
        scale=16.0,
        rows=(100, 50),
        axes=(Axis("C", 0.1, 10.0, 21, log=True), Axis("gamma", 0.001, 2.0, 21, log=True)),
        repetitions=64,
        fit=_fit_svm,
        counts=True,
    ),
    "mlp": Recipe(
        "load_digits",
        scale=16.0,
        rows=(150, 50),
        axes=(
            Axis("learning_rate", 0.001, 0.3, 9, log=True),
            Axis("alpha", 0.03, 10.0, 7, log=True),
            Axis("hidden_units", 4, 128, 7, log=True, whole=True),
        ),
        repetitions=32,
        fit=_fit_mlp,
        counts=True,
    ),
    "boosting": Recipe(
        "load_diabetes",
        scale=1.0,
        rows=(200, 50),
        axes=(
            Axis("learning_rate", 0.02, 0.5, 8, log=True),
            Axis("subsample", 0.2, 1.0, 6),
            Axis("min_samples_leaf", 1, 32, 6, log=True, whole=True),
        ),
        repetitions=40,
        fit=_fit_boosting,
        counts=False,
    ),
}


def _data(loader: str) -> tuple[Array, Array]:
    """Features (n, k) and targets (n,) of a data set that scikit-learn ships."""
    from sklearn import datasets

    X, y = getattr(datasets, loader)(return_X_y=True)
    return np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)


def split_of(name: str, repetition: int) -> Split:
    """What repetition number `repetition` of a table trains and tests with."""
    recipe = RECIPES[name]
    X, y = _data(recipe.data)
    rng = stream(repetition, f"table {name}")
    train, test = np.split(rng.permutation(len(y))[: sum(recipe.rows)], [recipe.rows[0]])
    X = X / recipe.scale
    return Split(X[train], y[train], X[test], y[test], float(np.std(y)), int(rng.integers(2**31)))


def measure(name: str, cell: Sequence[int], split: Split) -> float:
    """The stored outcome of one cell of the grid: wrong labels, or the relative error."""
    recipe = RECIPES[name]
    settings = {
        axis.name: axis.value(float(axis.grid[k]))
        for axis, k in zip(recipe.axes, cell, strict=True)
    }
    with limited_blas(_SMALL):
        found = recipe.fit(settings, split).predict(split.test)
    if recipe.counts:
        return float(np.count_nonzero(found != split.test_targets))
    return float(np.sqrt(np.mean((found - split.test_targets) ** 2)) / split.unit)


def surface(name: str, repetition: int) -> Array:
    """(points of each axis …) one repetition over the whole grid."""
    shape = tuple(axis.points for axis in RECIPES[name].axes)
    split = split_of(name, repetition)
    cells = itertools.product(*(range(points) for points in shape))
    return np.array([measure(name, cell, split) for cell in cells]).reshape(shape)


def measured(name: str, jobs: int) -> Array:
    """(points of each axis …, repetitions) a whole table, with a line of progress for each."""
    from joblib import Parallel, delayed

    count, begun = RECIPES[name].repetitions, time.monotonic()
    tasks = (delayed(surface)(name, r) for r in range(count))
    surfaces = []
    for found in Parallel(n_jobs=jobs, return_as="generator")(tasks):
        surfaces.append(found)
        print(
            f"{name}: {len(surfaces)} of {count} repetitions, {time.monotonic() - begun:.0f} s",
            flush=True,
        )
    return np.stack(surfaces, axis=-1)


def save(name: str, outcomes: Array, folder: Path) -> Path:
    """Write NAME.npz: plain arrays, no pickles."""
    import joblib
    import scipy
    import sklearn

    recipe = RECIPES[name]
    libraries = {"scikit-learn": sklearn, "numpy": np, "scipy": scipy, "joblib": joblib}
    versions = [
        f"Python {platform.python_version()}",
        *(f"{k} {v.__version__}" for k, v in libraries.items()),
    ]
    path = folder / f"{name}.npz"
    np.savez_compressed(
        path,
        outcomes=outcomes.astype(np.uint8 if recipe.counts else np.float32),
        divisor=np.float64(recipe.rows[1] if recipe.counts else 1.0),
        names=np.array([axis.name for axis in recipe.axes]),
        ends=np.array([[axis.low, axis.high] for axis in recipe.axes]),
        log=np.array([axis.log for axis in recipe.axes]),
        whole=np.array([axis.whole for axis in recipe.axes]),
        versions=np.array(", ".join(versions)),
    )
    return path


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", choices=[*RECIPES, "all"])
    parser.add_argument(
        "--out", type=Path, default=Path(), help="folder of the files (default: this one)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    for name in RECIPES if options.table == "all" else [options.table]:
        path = save(name, measured(name, options.jobs), options.out)
        print(f"{path}: {path.stat().st_size / 1024:.0f} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
