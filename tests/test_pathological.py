"""A thousand awkward data sets: no exception, NaN or negative variance, a point in the box.

And for each: values times a power of two, noise variances times its square, suggest the very same
point.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from ceibo import acquisition
from ceibo.acquisition import SearchSettings
from ceibo.gp import fit_gp
from tests.helpers import ACQUISITION_NAMES, Array

SETS, CHUNK = 1000, 25
KERNELS = ("matern52", "matern12", "matern32", "squared-exponential")
LIGHT = SearchSettings(
    raw=48, cloud=12, starts=2, iterations=15, rounds=2
)  # what is tested does not need a thorough search


@dataclass(frozen=True)
class Case:
    """One data set and how it is used."""

    X: Array
    y: Array
    noise: Array
    categorical: tuple[int, ...]
    discrete: dict[int, Array]
    kernel: str
    method: str
    acquisition: str
    pending: Array | None


def points(rng: np.random.Generator, n: int, d: int) -> Array:
    layout = rng.choice(
        ["random", "same", "repeats", "line", "cluster", "corners", "axis", "near-copies"]
    )
    X = rng.random((n, d))
    if layout == "same":
        X[:] = X[0]
    elif layout == "repeats":
        X = X[rng.integers(0, max(n // 3, 1), n)]
    elif layout == "line":
        X = X[:1] + rng.random((n, 1)) * (rng.random((1, d)) - X[:1])
    elif layout == "cluster":
        X = X[:1] + 1e-9 * rng.standard_normal((n, d))
    elif layout == "corners":
        X = np.round(X)
    elif layout == "axis":
        X[:, 1:] = 0.5
    elif layout == "near-copies":
        X = X[rng.integers(0, max(n // 2, 1), n)] + 1e-15 * rng.standard_normal((n, d))
    return np.clip(X, 0.0, 1.0)


def values(rng: np.random.Generator, X: Array) -> Array:
    n, total = len(X), X.sum(axis=1)
    shape = rng.choice(
        [
            "smooth",
            "noise",
            "constant",
            "zero",
            "linear",
            "outlier",
            "step",
            "nearly-constant",
            "offset",
        ]
    )
    values: dict[str, Array] = {
        "smooth": np.sin(7 * total),
        "noise": rng.standard_normal(n),
        "constant": np.full(n, rng.standard_normal()),
        "zero": np.zeros(n),
        "linear": total,
        "outlier": np.where(np.arange(n) == n - 1, 1e8, np.sin(total)),
        "step": np.sign(X[:, 0] - 0.5),
        "nearly-constant": 1.0 + 1e-12 * rng.standard_normal(n),
        "offset": 1e6 + np.cos(5 * total),
    }
    return values[str(shape)]


def variances(rng: np.random.Generator, y: Array) -> Array:
    n, size = len(y), float(np.max(np.abs(y))) ** 2 or 1.0
    kind = rng.choice(
        ["none", "tiny", "usual", "huge", "spread", "unknown", "mixed", "mostly-none"]
    )
    return {
        "none": np.zeros(n),
        "tiny": np.full(n, 1e-14 * size),
        "usual": rng.uniform(0.001, 0.1, n) * size,
        "huge": np.full(n, 1e8 * size),
        "spread": size * 10.0 ** rng.uniform(-12, 8, n),
        "unknown": np.full(n, np.nan),
        "mixed": np.where(rng.random(n) < 0.5, np.nan, 0.01 * size),
        "mostly-none": np.where(rng.random(n) < 0.2, 0.01 * size, 0.0),
    }[str(kind)]


def make_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 3, 5, 10, 20, 40], p=[0.2, 0.15, 0.15, 0.15, 0.15, 0.15, 0.05]))
    d = int(rng.choice([1, 2, 3, 6, 12, 50], p=[0.25, 0.25, 0.2, 0.15, 0.1, 0.05]))
    X = points(rng, n, d)
    y = values(rng, X)
    noise = variances(rng, y)
    kinds = rng.choice(["continuous", "mixed", "categorical"], p=[0.6, 0.25, 0.15])
    if d > 12:
        kinds = "continuous"
    columns = {
        "continuous": [],
        "mixed": [k for k in range(d) if rng.random() < 0.5],
        "categorical": list(range(d)),
    }
    discrete: dict[int, Array] = {}
    for k in columns[str(kinds)]:
        discrete[k] = np.linspace(0, 1, int(rng.integers(1, 5)))
        X[:, k] = rng.choice(discrete[k], n)
    categorical = tuple(k for k in discrete if str(kinds) == "categorical" or rng.random() < 0.5)
    size = float(np.max(np.abs(y))) or 1.0
    scale = (
        1.0
        if rng.random() < 0.3
        else 10.0 ** int(rng.choice([-150, -140, -60, -3, 5, 60, 140, 150])) / size
    )
    noise = np.minimum(noise * scale * scale, 1e300)  # the mean of several must be a number
    return Case(
        X=X,
        y=y * scale,
        noise=noise,
        categorical=categorical,
        discrete=discrete,
        kernel=KERNELS[seed % 4],
        method="map" if rng.random() < 0.7 else "ml",
        acquisition=ACQUISITION_NAMES[seed % 9],
        pending=X[:1].copy() if rng.random() < 0.2 else None,
    )


def suggest(case: Case, factor: float, seed: int) -> Array:
    """Fits, looks at everything there is to look at, and suggests."""
    fit = fit_gp(
        case.X,
        case.y * factor,
        case.noise * factor * factor,
        kernel=case.kernel,
        method=case.method,
        categorical=case.categorical,
    )
    gp = fit.gp
    assert np.isfinite(fit.log_likelihood)
    acq = acquisition.build(case.acquisition, gp, seed=seed, pending=case.pending, draws=8)
    maximum = acquisition.maximize(acq, seed=seed, discrete=case.discrete, settings=LIGHT)
    looked_at = np.concatenate([case.X, maximum.x[None], np.full((1, len(maximum.x)), 0.5)])
    for model in (gp, acq.gp):
        mean, variance = model.posterior(looked_at)
        assert np.all(np.isfinite(mean))
        assert np.all(np.isfinite(variance))
        assert np.all(variance >= 0)
    covariance = gp.covariance(looked_at, looked_at)
    assert np.all(np.isfinite(covariance))
    number, gradient = acq.value_and_gradient(looked_at)
    assert np.all(np.isfinite(number))
    assert np.all(np.isfinite(gradient))
    assert np.isfinite(maximum.value)
    assert 0.0 <= acquisition.probability_best(gp, acq.incumbent.index) <= 1.0
    assert np.isfinite(acq.incumbent.std)
    return maximum.x


@pytest.mark.parametrize("first", range(0, SETS, CHUNK))
def test_pathological_data(first: int) -> None:
    for seed in range(first, first + CHUNK):
        case = make_case(seed)
        x = suggest(case, 1.0, seed)
        assert np.all((x >= 0) & (x <= 1)), seed
        for k, allowed in case.discrete.items():
            assert x[k] in allowed, seed
        factor = power_of_two(case, seed)
        again = suggest(case, factor, seed)
        if stays_normal(case):
            np.testing.assert_array_equal(again, x, err_msg=f"set {seed}, factor {factor}")


def power_of_two(case: Case, seed: int) -> float:
    """In the direction of one, so that nothing leaves the range of float64."""
    size = max(float(np.max(np.abs(case.y))), float(np.sqrt(np.nanmax(case.noise, initial=0.0))))
    power = int(np.random.default_rng(seed).integers(1, 40))
    return 2.0 ** (power if size < 1.0 else -power)


def stays_normal(case: Case) -> bool:
    """Whether variances of f, down to a millionth of that of the values, are normal numbers."""
    size = float(np.max(np.abs(case.y))) or 1.0
    relative = float(np.std(case.y / size))
    spread = size * (relative if relative > 1e-13 else 1.0)  # constants are scaled by their size
    return bool(spread**2 * 1e-6 > np.finfo(float).tiny)


def test_the_thousand_are_as_varied_as_they_should_be() -> None:
    """The generator must not quietly lose a kind: each trait is there many times."""
    cases = [make_case(seed) for seed in range(SETS)]
    traits = {
        "one observation": [len(c.y) == 1 for c in cases],
        "fifty dimensions": [c.X.shape[1] == 50 for c in cases],
        "repeated points": [len(np.unique(c.X, axis=0)) < len(c.X) for c in cases],
        "points within 1e-8": [
            len(c.X) > 1 and 0 < np.max(np.ptp(c.X, axis=0)) < 1e-7 for c in cases
        ],
        "constant values": [len(c.y) > 1 and np.ptp(c.y) == 0 for c in cases],
        "no noise": [bool(np.all(c.noise == 0)) for c in cases],
        "unknown noise": [bool(np.all(np.isnan(c.noise))) for c in cases],
        "mixed noise": [0 < np.isnan(c.noise).sum() < len(c.y) for c in cases],
        "huge noise": [
            bool(np.nanmax(c.noise, initial=0) > 1e7 * np.max(c.y**2) > 0) for c in cases
        ],
        "all categorical": [len(c.categorical) == c.X.shape[1] for c in cases],
        "mixed space": [0 < len(c.discrete) < c.X.shape[1] for c in cases],
        "tiny values": [0 < np.max(np.abs(c.y)) < 1e-139 for c in cases],
        "enormous values": [np.max(np.abs(c.y)) > 1e139 for c in cases],
        "pending points": [c.pending is not None for c in cases],
        "no power of two": [not stays_normal(c) for c in cases],
    }
    assert sum(traits.pop("no power of two")) < 50
    for trait, has in traits.items():
        assert sum(has) >= 20, f"{trait}: {sum(has)}"
