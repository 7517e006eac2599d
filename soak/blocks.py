"""Blocks: a search over eight plates of twelve, each plate with an offset of its own.

Hartmann 6 and a saturating yield are searched in batches of twelve, one per plate, with unknown
noise; a plate's offset is drawn with a standard deviation of 0, 1 or 2 times the noise. Regret is
that of `best` and `recommended`, in log10, no less than a twentieth of the noise. Shown beside each
other are studies that are told the plates and, without offsets, one that is not.

Targets: regret with offsets within 0.1 of that without; without offsets no loss by telling the
plates, within 0.1; the realised spread of the eight offsets found within 30 % in 90 % of the runs
with offsets. Both answers are judged. A difference meets its target if two standard errors above it
are within; with few seeds none can.

    python -m soak.blocks --seeds 130 --records blocks.jsonl
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import numpy as np
from threadpoolctl import threadpool_limits

from ceibo import Float, Study
from ceibo.gp.inputs import Array
from ceibo_lab.problems.more import hartmann_6
from soak.lines import add_line, read_lines

PLATES, WELLS = 8, 12
ANSWERS: Final = ("best", "recommended")
MARGIN: Final = 0.1
SHARE, WITHIN = 0.9, 0.3  # of runs in which the spread is found, and how closely
_FLOOR: Final = 0.05  # of the noise: a regret below it is as good


@final
@dataclass(frozen=True)
class Surface:
    """A function of the unit cube to be minimised, and the noise of measuring it."""

    dimension: int
    function: Callable[[Array], float]
    minimum: float
    noise: float


def _hartmann(x: Array) -> float:
    return float(hartmann_6().function(x[None, :])[0])


def _saturating(x: Array) -> float:
    """Minus a yield in temperature, equivalents and time."""
    return float(-98.0 * np.prod(1.0 - np.exp(-np.array([4.0, 5.0, 3.0]) * x)))


SURFACES: Final = {
    "hartmann-6": Surface(6, _hartmann, hartmann_6().minimum, 0.05 * hartmann_6().range),
    "saturating": Surface(3, _saturating, _saturating(np.ones(3)), 2.0),
}


@final
@dataclass(frozen=True)
class Arm:
    """Offsets in units of the noise, and whether the study is told of the plates."""

    offset: float
    told: bool

    def __str__(self) -> str:
        return f"{self.offset:g} {'told' if self.told else 'not told'}"


ARMS: Final = (
    Arm(0.0, False),
    Arm(0.0, True),
    Arm(1.0, True),
    Arm(2.0, True),
    Arm(1.0, False),
    Arm(2.0, False),
)


def run(surface: Surface, arm: Arm, seed: int) -> dict[str, float]:
    """One search: its log10 regret, the realised spread of the offsets and that inferred."""
    rng = np.random.default_rng([seed, 17])
    offsets = arm.offset * surface.noise * rng.standard_normal(PLATES)
    errors = surface.noise * rng.standard_normal((PLATES, WELLS))
    names = [f"x{k}" for k in range(surface.dimension)]
    study = Study.create({name: Float(0, 1) for name in names}, seed=seed)

    def truth(params: Mapping[str, Any]) -> float:
        return surface.function(np.array([params[name] for name in names]))

    for plate in range(PLATES):
        for well, trial in enumerate(study.ask(WELLS)):
            value = truth(trial.params) + offsets[plate] + errors[plate, well]
            study.tell(trial, value, block=f"plate {plate + 1}" if arm.told else None)

    def regret(params: Mapping[str, Any]) -> float:
        lost = truth(params) - surface.minimum
        return float(np.log10(max(lost, _FLOOR * surface.noise)))

    effects = study.belief.blocks
    return {
        "best": regret(study.best.params),
        "recommended": regret(study.recommended.params),
        "realised": float(np.std(offsets)),
        "inferred": effects[0].spread if effects else 0.0,
        "noise": float(study.belief.noise or 0.0) / surface.noise,
        # how far each plate's offset is from its estimate, in standard deviations
        "z": float(np.sqrt(np.mean([_error(each, offsets) for each in effects]))) if effects else 0,
    }


def _error(effect: Any, offsets: Array) -> float:
    """The squared error of an effect, of the deviation from the mean of all, over its variance."""
    true = offsets[int(effect.label.split()[1]) - 1] - offsets.mean()
    return float(((effect.mean - true) / max(effect.std, 1e-300)) ** 2)


Records = dict[tuple[str, str, int], dict[str, float]]


def gather(options: argparse.Namespace) -> Records:
    """Every run asked for, those of the file not made again."""
    done: Records = {}
    path = None if options.records is None else Path(options.records)
    for record in () if path is None else read_lines(path):
        done[record["surface"], record["arm"], record["seed"]] = record["found"]
    for seed in range(options.first, options.first + options.seeds):
        for name in options.surfaces:
            for arm in ARMS[: options.arms]:
                key = name, str(arm), seed
                if key in done:
                    continue
                with threadpool_limits(1):
                    done[key] = run(SURFACES[name], arm, seed)
                if path is not None:
                    found = {"surface": name, "arm": str(arm), "seed": seed, "found": done[key]}
                    add_line(path, found)
    return done


def summary(records: Records, name: str) -> bool:
    """Prints the figures of a surface; whether a target is missed."""

    def column(arm: Arm, what: str) -> Array:
        found = {
            seed: each
            for (surface, a, seed), each in records.items()
            if a == str(arm) and surface == name
        }
        return np.array([found[seed][what] for seed in sorted(found)])

    missed = False
    told, plain = ARMS[1], ARMS[0]
    print(f"{name}, {len(column(plain, 'best'))} seeds, log10 regret of best, recommended")
    for arm in ARMS:
        if not len(column(arm, "best")):
            continue
        base = plain if arm == told else told
        line = f"  {arm!s:<12}"
        for answer in ANSWERS:
            ours, theirs = column(arm, answer), column(base, answer)
            line += f"{np.mean(ours):+.3f} "
            if arm != plain and len(theirs) == len(ours) > 1:
                difference = ours - theirs
                error = float(np.std(difference, ddof=1) / np.sqrt(len(difference)))
                line += f"({np.mean(difference):+.3f} ± {error:.3f}) "
                missed |= arm.told and float(np.mean(difference)) + 2 * error > MARGIN
        line += "" if arm == plain else f"against {'not told' if arm == told else 'none, told'}"
        if arm.told:
            ratio = column(arm, "inferred") / np.maximum(column(arm, "realised"), 1e-300)
            line += f"; noise × {np.median(column(arm, 'noise')):.2f}"
            if arm.offset:
                found = np.abs(ratio - 1.0) <= WITHIN
                share = float(np.mean(found))
                line += f"; spread within 30 % in {share:.0%}, median × {np.median(ratio):.2f}"
                large = column(arm, "realised") >= SURFACES[name].noise
                line += f" ({np.sum(found & large)} of the {np.sum(large)} above the noise)"
                line += f"; z of offsets {np.median(column(arm, 'z')):.2f}"
                missed |= share < SHARE
            else:
                spread = column(arm, "inferred") / SURFACES[name].noise
                line += f"; spread inferred, in units of the noise: {np.median(spread):.2f}"
                line += f" (at most {np.max(spread):.2f})"
        print(line)
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="seed")
    parser.add_argument("--arms", type=int, default=4, help="6 shows studies that are not told too")
    parser.add_argument("--surfaces", nargs="+", default=list(SURFACES), choices=list(SURFACES))
    parser.add_argument("--records", default=None, help="file of runs, gone on with")
    options = parser.parse_args()
    records = gather(options)
    missed = [name for name in options.surfaces if summary(records, name)]
    if missed:
        print(f"missed: {', '.join(missed)}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
