"""Suggestions in random spaces with rules: none breaks a rule, none raises an error, none hangs.

Each space is walked through again and again as short studies: suggestions of the initial design,
suggestions of the model (single, and in batches whose other members are pending), and what is
recommended at the end. Every setting is judged by soak/ruled_spaces.py, which has no code of
ceibo's for rules.
"""

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from typing import Any, Final, final

import numpy as np
from threadpoolctl import threadpool_limits

from ceibo.decide import (
    Belief,
    Measurement,
    Settings,
    Space,
    Told,
    Unmeasured,
    evidence_of,
    suggest,
)
from soak.fuzz import HangError, watched
from soak.ruled_spaces import FAMILIES, RuledSpace, random_space

INITIAL: Final = 6
STEPS: Final = 19  # suggestions of a walk before the recommendation
BATCH: Final = 3
_SHOWN: Final = 10


@final
@dataclass
class Tally:
    """What came of the suggestions of a space."""

    family: str
    counts: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0  # seconds of the processor for a suggestion
    seconds: float = 0.0  # of the processor, in all
    notes: list[str] = field(default_factory=list)

    def note(self, what: str, text: str) -> None:
        self.counts[what] += 1
        self.notes.append(text)


def walk(space: Space, seed: int, steps: int = STEPS) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(kind, setting) of a short study; the kinds are initial, model and recommended."""
    rng = np.random.default_rng(seed)
    target = rng.random(len(space))
    settings = Settings(n_initial=INITIAL)
    told: list[Told] = []
    pending: list[Any] = []
    for number in range(steps):
        unmeasured = Unmeasured(pending=tuple(x for _, x in pending))
        evidence = evidence_of(told, len(space), unmeasured=unmeasured, trials=number)
        found = suggest(evidence, space, settings, None, seed, number)
        yield found.source, found.params
        pending.append((number, found.x))
        if len(pending) >= (1 if seed % 2 else BATCH):
            for each, x in pending:
                value = float(np.sum((x - target) ** 2) + 0.1 * rng.standard_normal())
                told.append(Told(each, x, Measurement(value)))
            pending.clear()
    belief = Belief(evidence_of(told, len(space)), space, settings, seed)
    yield "recommended", belief.recommended.params


def judge(ruled: RuledSpace, seed: int, suggestions: int) -> Tally:
    """Walks through a space until there are so many suggestions."""
    tally = Tally(ruled.family)
    name = f"space {seed} ({ruled.family}, d = {len(ruled.dimensions)}, {len(ruled.rules)} rules)"
    made, study = 0, 0
    begun = time.process_time()
    try:
        with watched():
            space = ruled.build()
    except (Exception, HangError) as error:  # counted, whatever it is
        tally.note(_kind(error), f"{name}: {_last_lines(error)}")
        return tally
    while made < suggestions and not tally.counts["errors"] + tally.counts["hangs"]:
        steps = min(STEPS, suggestions - made - 1) or 1
        steady = walk(space, 1000 * seed + study, steps)
        while True:
            since = time.process_time()
            try:
                with watched():
                    kind, params = next(steady)
            except StopIteration:
                break
            except (Exception, HangError) as error:  # counted, whatever it is
                tally.note(_kind(error), f"{name}, study {study}: {_last_lines(error)}")
                break
            tally.slowest = max(tally.slowest, time.process_time() - since)
            made += 1
            tally.counts[kind] += 1
            if fault := ruled.fault(params):
                tally.note("violations", f"{name}, study {study}, {kind}: {fault}")
        study += 1
    tally.seconds = time.process_time() - begun
    return tally


def _kind(error: BaseException) -> str:
    return "hangs" if isinstance(error, HangError) else "errors"


def _last_lines(error: BaseException) -> str:
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({where.filename}:{where.lineno})"


def _one(seed: int, suggestions: int) -> Tally:
    with threadpool_limits(1):
        return judge(random_space(seed), seed, suggestions)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suggestions", type=int, default=100_000, help="in all")
    parser.add_argument("--spaces", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="of the first space")
    parser.add_argument("--workers", type=int, default=None, help="one per core by default")
    options = parser.parse_args()
    each = -(-options.suggestions // options.spaces)
    seeds = range(options.seed, options.seed + options.spaces)
    work = partial(_one, suggestions=each)
    with ProcessPoolExecutor(options.workers, get_context("spawn")) as pool:
        tallies = list(pool.map(work, seeds))
    kinds = ("initial", "model", "recommended", "violations", "errors", "hangs")
    print(
        f"{'family':<12}{'spaces':>8}" + "".join(f"{k:>13}" for k in kinds) + f"{'slowest s':>11}"
    )
    for family in (*FAMILIES, "all"):
        rows = [tally for tally in tallies if family in (tally.family, "all")]
        counts = [sum(tally.counts[kind] for tally in rows) for kind in kinds]
        slowest = max((tally.slowest for tally in rows), default=0.0)
        figures = "".join(f"{count:>13}" for count in counts)
        print(f"{family:<12}{len(rows):>8}{figures}{slowest:>11.2f}")
    notes = [note for tally in tallies for note in tally.notes]
    for note in notes[:_SHOWN]:
        print(note)
    spent = sum(tally.seconds for tally in tallies)
    mean = 1000 * spent / max(1, each * len(seeds))
    print(f"{spent:.0f} s of processors' time, {mean:.1f} ms each")
    if notes:
        print(f"missed; to repeat: python -m soak.inputs --seed {options.seed}")
    return int(bool(notes))


if __name__ == "__main__":
    sys.exit(main())
