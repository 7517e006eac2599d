"""Seconds of one cold suggestion under rules, beside the box of the same dimension.

`python -m bench.region` has studies of n noisy points in spaces with rules, and the same points in
the same spaces without them; the two take turns. Time is that of the processor, which a busy
machine changes least. Target: at most twice the time of the box.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from typing import Final

import numpy as np

from ceibo import Categorical, Float, Int, Space
from ceibo.decide import Settings, Told, evidence_of
from ceibo.decide.measurement import Measurement
from ceibo.decide.region import region_of
from ceibo.decide.suggest import suggest

TARGET: Final = 2.0


def spaces() -> dict[str, Space]:
    """Spaces of the kinds that rules make."""

    def parts(count: int) -> dict[str, Float]:
        return {f"x{k}": Float(0, 1) for k in range(count)}

    def total(count: int) -> str:
        return " + ".join(parts(count)) + " == 1"

    caps = ["x0 <= 0.5 * x1", "x2 + x3 <= 0.4", "x4 - x5 <= 0.1"]
    slab = ["0.49995 <= 0.3 * x0 + 0.7 * x1 <= 0.50005"]
    mixed = {**parts(3), "temp": Float(20, 120), "n": Int(1, 8), "s": Categorical(["p", "q", "r"])}
    conditions = ["temp <= 66 if s == 'p'", "temp <= 100 if s == 'q'", "x0 + x1 <= 0.1 * n"]
    return {
        "mixture of 6, 1 rule": Space(parts(6), constraints=[total(6), caps[0]]),
        "mixture of 12, 3 rules": Space(parts(12), constraints=[total(12), *caps]),
        "box of 8, 3 rules": Space(parts(8), constraints=caps),
        "box of 20, slab, 3 rules": Space(parts(20), constraints=[*caps, *slab]),
        "3 of 8 parts": Space(
            parts(8), constraints=[total(8), "at most 3 of " + ", ".join(parts(8))]
        ),
        "conditions, mixed": Space(mixed, constraints=conditions),
    }


def measure(space: Space, n: int, repeats: int) -> tuple[float, float]:
    """Median seconds of a suggestion with rules and without."""
    free = Space(dict(space.dimensions))
    region = region_of(space)
    if region is None:
        raise ValueError("a space without rules")
    rng = np.random.default_rng(0)
    X = space.to_unit_rows([space.from_unit(x) for x in region.sample(n, rng)])
    y = ((X - 0.3) ** 2).sum(axis=1) + 0.05 * rng.standard_normal(n)
    pairs = enumerate(zip(X, y.tolist(), strict=True))
    known = evidence_of([Told(k, x, Measurement(v, 0.05)) for k, (x, v) in pairs], X.shape[1])
    seconds: dict[str, list[float]] = {"rules": [], "box": []}
    for number in range(repeats + 1):
        for name, each in (("rules", space), ("box", free)):
            began = time.process_time()
            suggest(known, each, Settings(), None, 0, n + number)
            seconds[name].append(time.process_time() - began)
    # the first suggestion of a process loads and makes what the later ones use
    return statistics.median(seconds["rules"][1:]), statistics.median(seconds["box"][1:])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args(arguments)
    missed = 0
    print(f"{'space':28s} {'rules':>9s} {'box':>9s}  ratio")
    for name, space in spaces().items():
        ruled, free = measure(space, options.n, options.repeats)
        missed += ruled > TARGET * free
        times = f"{1e3 * ruled:6.0f} ms {1e3 * free:6.0f} ms"
        print(f"{name:28s} {times}  {ruled / free:5.2f}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
