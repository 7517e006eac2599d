"""Wrong measurements: how many are found, how many right ones are doubted, and what it costs.

Sixty trials on four problems, with noise of 5 % of the range, known to the study or not. Three runs
a seed: clean values; one in ten off by 5 to 20 noise standard deviations, to either side; and the
same with a study that believes everything. Reported for each problem and kind of noise:

    best, recommended  log10 of the true regret of these answers beside that of the clean run
    believing          the same of `best`, of the study that believes everything
    doubted            the share of clean runs that end with a suspect
    ever               the share of clean runs in which one was named after some trial
    named              the share of the values that were wrong by more than 8 that are named
    5 to 8             the same of smaller errors, which no target is about
    right              right values named in corrupted runs, of all

Targets, over all and of each kind of noise: regrets at most 0.1 above those of clean data, two
standard errors included; doubted at most 0.05; named at least 0.9. `--seeds 65` is the whole
experiment; with `--keep FILE` what was run is kept, and not run again.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from ceibo import Float, Study
from ceibo.gp.inputs import Array
from ceibo_lab.problem import Problem
from ceibo_lab.problems import problem
from soak.lines import add_line, read_lines

PROBLEMS: Final = ("hartmann-6", "ackley", "levy", "rosenbrock")
LEVEL, SHARE, SMALLEST, LARGEST, SURE = 0.05, 0.1, 5.0, 20.0, 8.0
KINDS: Final = ("clean", "corrupted", "believing")
MARGIN, DOUBTED, NAMED = 0.1, 0.05, 0.9  # targets
FLOOR: Final = 1e-3  # of the range: regrets below count as this
Run = dict[str, Any]


def measure(name: str, seed: int, known: bool, kind: str, trials: int) -> Run:
    """One study: its regrets, its suspects, and by how much each value is wrong."""
    task = problem(name, "shifted", seed)
    rng = np.random.default_rng([seed, 17])
    z, wrong = rng.standard_normal(trials), rng.random(trials) < SHARE
    sizes = rng.uniform(SMALLEST, LARGEST, trials) * rng.choice([-1.0, 1.0], trials)
    shifts = np.where(wrong & (kind != "clean"), sizes, 0.0)
    std = LEVEL * task.range
    space = {f"x{j}": Float(0, 1) for j in range(task.dimension)}
    study = Study.create(space, seed=seed, outliers=kind != "believing")
    ever: set[int] = set()
    for t in range(trials):
        trial = study.ask()
        f = _true(task, np.array(list(trial.params.values())))
        study.tell(trial, f + std * (z[t] + shifts[t]), std if known else None)
        if kind == "clean":
            ever.update(each.number for each in study.suspects)
    answers = study.best, study.recommended
    regrets = [_true(task, np.array(list(each.params.values()))) for each in answers]
    named = [each.number for each in study.suspects]
    study.close()
    return {
        "regrets": [max(each - task.minimum, FLOOR * task.range) for each in regrets],
        "named": named,
        "ever": sorted(ever),
        "shifts": shifts.tolist(),
    }


def _true(task: Problem, u: Array) -> float:
    return float(task.at_unit(u[None, :])[0])


def runs(options: argparse.Namespace) -> Iterator[tuple[str, bool, dict[str, Run]]]:
    """The three runs of every problem, kind of noise and seed."""
    kept: dict[str, Run] = dict(read_lines(options.keep)) if options.keep else {}
    for seed in range(options.first, options.first + options.seeds):
        for name in options.problems:
            for known in (False, True):
                found = {}
                for kind in KINDS:
                    key = f"{name} {seed} {known} {kind} {options.trials}"
                    if key not in kept:
                        kept[key] = measure(name, seed, known, kind, options.trials)
                        if options.keep:
                            add_line(options.keep, [key, kept[key]])
                    found[kind] = kept[key]
                yield name, known, found


def figures(found: list[dict[str, Run]]) -> dict[str, float]:
    """The figures of some triples of runs; NaN where there is nothing to count."""
    logs = {kind: np.log10([each[kind]["regrets"] for each in found]) for kind in KINDS}
    sizes, named = [], []
    for each in found:
        run = each["corrupted"]
        sizes += np.abs(run["shifts"]).tolist()
        named += [number in run["named"] for number in range(len(run["shifts"]))]
    size, hit = np.array(sizes), np.array(named)
    shares = [(size > SURE), (size > 0) & (size <= SURE), (size == 0)]
    sure, small, right = (float(hit[mask].mean()) if mask.any() else np.nan for mask in shares)
    worse = (logs["corrupted"] - logs["clean"]).mean(axis=0)
    return {
        "best": worse[0],
        "recommended": worse[1],
        "believing": float((logs["believing"] - logs["clean"])[:, 0].mean()),
        "doubted": float(np.mean([bool(each["clean"]["named"]) for each in found])),
        "ever": float(np.mean([bool(each["clean"]["ever"]) for each in found])),
        "named": sure,
        "5 to 8": small,
        "right": right,
    }


def errors(found: list[dict[str, Run]]) -> Array:
    """The standard errors of what the corrupted runs lose, of `best` and of `recommended`."""
    logs = [np.log10([each[kind]["regrets"] for each in found]) for kind in ("corrupted", "clean")]
    difference = logs[0] - logs[1]
    return np.asarray(np.std(difference, axis=0, ddof=1) / np.sqrt(len(difference)))


def passes(found: list[dict[str, Run]]) -> bool:
    """Whether the targets are met."""
    if len(found) < 2:
        return False
    seen = figures(found)
    worst = np.array([seen["best"], seen["recommended"]]) + 2 * errors(found)
    return bool(np.all(worst <= MARGIN)) and seen["doubted"] <= DOUBTED and seen["named"] >= NAMED


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    parser.add_argument("--keep", type=Path, help="a file of runs, which are not made again")
    options = parser.parse_args()
    cells: dict[tuple[str, bool], list[dict[str, Run]]] = {}
    for name, known, found in runs(options):
        cells.setdefault((name, known), []).append(found)
    every = [found for each in cells.values() for found in each]
    names = list(figures(every))
    print(f"{'':>22}" + "".join(f"{name:>13}" for name in names))
    rows = {f"{n}, {_word(known)}": each for (n, known), each in cells.items()}
    pooled = {
        f"all, {_word(known)}": [
            one for (_, k), each in cells.items() if k == known for one in each
        ]
        for known in (False, True)
    }
    pooled["all"] = every
    for label, each in (rows | pooled).items():
        shown = figures(each)
        line = "".join(f"{shown[name]:>13.3f}" for name in names)
        error = f"  ± {' '.join(f'{one:.3f}' for one in errors(each))}" if len(each) > 1 else ""
        print(f"{label:>22}{line}{error}")
    missed = [label for label, each in pooled.items() if not passes(each)]
    print(f"{len(every)} triples of runs; targets missed: {', '.join(missed) or 'none'}")
    return int(bool(missed))


def _word(known: bool) -> str:
    return "known" if known else "unknown"


if __name__ == "__main__":
    sys.exit(main())
