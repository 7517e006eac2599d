"""Seconds of one suggestion with the checks of a study, beside the same without any of them.

`python -m bench.checks` measures, on the data of the other comparisons, around an optimum and
spread, and on Hartmann 6 at random points with noise of 5 % of its range:

    plain      every value is believed, the noise is one level
    default    values that look wrong are searched, and noise that differs over the space
    blocks     the same, with the measurements in eight blocks without an effect
    wrong      the default, where one value in ten is off by 5 to 20 noise standard deviations

Noise is known ("told") or not. Figures are of the processor's time of a cold suggestion, one
thread: the median of the plain one, then of the ratios the median and the mean. The target is 1.5
times the plain one for default and blocks, in the mean over data sets at n = 150.
"""

import argparse
import sys
import time
from typing import Final

import numpy as np
from threadpoolctl import threadpool_limits

from bench.data import KINDS, noisy_function
from ceibo.decide import Direction, Evidence, Float, Measurement, Settings, Space, Told, evidence_of
from ceibo.decide.suggest import suggest
from ceibo.gp.inputs import Array
from ceibo_lab.problems.more import hartmann_6

SIZES: Final = (50, 150, 300)
TARGET, TARGET_SIZE = 1.5, 150
DATA: Final = (*KINDS, "hartmann-6")
PLAIN: Final = Settings(outliers=False, varying_noise=False)
ARMS: Final = {
    "plain": (PLAIN, 0, 0.0),
    "default": (Settings(), 0, 0.0),
    "blocks": (Settings(), 8, 0.0),
    "wrong": (Settings(), 0, 0.1),
}
SPACE: Final = Space({f"x{k}": Float(0.0, 1.0) for k in range(6)})


def measured(kind: str, n: int, seed: int) -> tuple[Array, Array, Array]:
    """Points, values, and the standard deviation of the noise of each."""
    if kind in KINDS:
        data = noisy_function(n, seed, kind)
        return data.X, data.y, np.sqrt(data.noise)
    problem, rng = hartmann_6(), np.random.default_rng([n, seed])
    X, std = rng.random((n, 6)), 0.05 * problem.range
    return X, problem.at_unit(X) + std * rng.standard_normal(n), np.full(n, std)


def evidence(kind: str, n: int, seed: int, told: bool, blocks: int, wrong: float) -> Evidence:
    """What a study knows of a data set, and what is wrong with it."""
    X, y, noise = measured(kind, n, seed)
    rng = np.random.default_rng([n, seed, 1])
    sizes = rng.uniform(5, 20, n) * rng.choice([-1.0, 1.0], n)
    y = y + np.where(rng.random(n) < wrong, sizes, 0.0) * np.median(noise)
    values = [
        Told(
            row,
            X[row],
            Measurement(
                float(y[row]),
                float(noise[row]) if told else None,
                block=f"day {row % blocks}" if blocks else None,
            ),
        )
        for row in range(n)
    ]
    return evidence_of(values, 6, Direction.MINIMIZE)


def seconds(known: Evidence, settings: Settings, seed: int) -> float:
    since = time.process_time()
    suggest(known, SPACE, settings, None, seed, len(known))
    return time.process_time() - since


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.checks")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    options = parser.parse_args()
    print(f"{'data':<22}{'n':>4}{'plain s':>9}" + "".join(f"{arm:>16}" for arm in ARMS))
    at_target: dict[str, list[float]] = {arm: [] for arm in ARMS}
    with threadpool_limits(1):
        for kind in DATA:
            for told in (True, False):
                for n in options.sizes:
                    times = {
                        arm: [
                            seconds(evidence(kind, n, seed, told, blocks, wrong), settings, seed)
                            for seed in range(options.seeds)
                        ]
                        for arm, (settings, blocks, wrong) in ARMS.items()
                    }
                    ratios = {arm: np.divide(each, times["plain"]) for arm, each in times.items()}
                    if n == TARGET_SIZE:
                        for arm, each in ratios.items():
                            at_target[arm] += each.tolist()
                    name = f"{kind}, {'told' if told else 'untold'}"
                    shown = "".join(
                        f"{np.median(each):9.2f}{np.mean(each):7.2f}" for each in ratios.values()
                    )
                    print(f"{name:<22}{n:>4}{np.median(times['plain']):>9.4f}{shown}", flush=True)
    means = {arm: float(np.mean(each)) for arm, each in at_target.items() if each}
    said = ", ".join(f"{arm} {mean:.2f}" for arm, mean in means.items())
    print(f"mean over all data sets of n = {TARGET_SIZE}: {said or 'none'}")
    missed = [arm for arm in ("default", "blocks") if means.get(arm, 0.0) > TARGET]
    print(f"target of {TARGET:g} missed: {', '.join(missed) or 'no'}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
