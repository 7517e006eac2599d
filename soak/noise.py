"""Unknown noise: how well it is inferred, on functions drawn at random.

Functions are draws from a Matérn-5/2 process with a length scale of 0.25 to 1 times √d, d = 1, 2,
3; the noise is 5 to 30 % of the function's range. The inferred standard deviation is to lie within
30 % of the truth in 90 % of the data sets, and within 15 % where every point is measured three
times.
"""

import argparse
import sys
from dataclasses import dataclass
from typing import final

import numpy as np

from ceibo import Float, Measurement, Study
from ceibo.gp import Matern52
from ceibo.gp.inputs import Array

SEED = 20240


@final
@dataclass(frozen=True)
class DataSet:
    """Points, true values there and the noise's standard deviation."""

    X: Array
    f: Array
    noise: float


def draw(index: int, points: int) -> DataSet:
    """Data set number `index`."""
    rng = np.random.default_rng([SEED, index])
    d = 1 + index % 3
    X = rng.random((points + 512, d))  # the rest shows the function's range
    kernel = Matern52(np.full(d, rng.uniform(0.25, 1.0) * np.sqrt(d)))
    K = kernel(X, X) + 1e-8 * np.eye(len(X))
    f = np.linalg.cholesky(K) @ rng.standard_normal(len(X))
    return DataSet(X[:points], f[:points], rng.uniform(0.05, 0.3) * float(np.ptp(f)))


def infer_noise(data: DataSet, replicates: int, rng: np.random.Generator) -> float:
    """The standard deviation a study infers from noisy measurements of the data set."""
    study = Study.create({f"x{j}": Float(0, 1) for j in range(data.X.shape[1])})
    for x, value in zip(data.X, data.f, strict=True):
        measured = (value + data.noise * rng.standard_normal(replicates)).tolist()
        outcome = Measurement.of(measured) if replicates > 1 else Measurement(measured[0])
        study.add({f"x{j}": float(each) for j, each in enumerate(x)}, outcome)
    noise = study.belief.noise
    study.close()
    if noise is None:
        raise RuntimeError("no noise was inferred")
    return noise


def ratios(count: int, points: int, replicates: int) -> Array:
    """Inferred over true noise, one per data set."""
    found = []
    for index in range(count):
        data = draw(index, points)
        rng = np.random.default_rng([SEED, index, replicates])
        found.append(infer_noise(data, replicates, rng) / data.noise)
    return np.array(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=50)
    parser.add_argument("--points", type=int, default=40)
    options = parser.parse_args()
    print(
        f"{'replicates':>10}{'sets':>6}{'points':>8}{'within':>8}{'share':>8}{'median':>8}{'least':>8}{'most':>8}"
    )
    passed = True
    for replicates, width in ((1, 0.30), (3, 0.15)):
        found = ratios(options.sets, options.points, replicates)
        share = float(np.mean(np.abs(found - 1) <= width))
        print(
            f"{replicates:>10}{options.sets:>6}{options.points:>8}{width:>8.0%}{share:>8.0%}",
            end="",
        )
        print(f"{np.median(found):>8.2f}{found.min():>8.2f}{found.max():>8.2f}", flush=True)
        passed &= share >= 0.90
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
