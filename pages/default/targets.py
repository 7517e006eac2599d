"""What the default must show on the locked half, each decided by a rule fixed beforehand.

- Ranks: its mean rank over the cells is below that of each rival, and Wilcoxon's test on the ranks
  in the cells, paired by cell and Holm-corrected over the rivals, has p < 0.05. The same test on
  mean log regrets stands beside it.
- Wins: in the table of all cells and methods, Holm-corrected as a whole, it has more significant
  wins than losses against each rival, and at most one significant loss against all of them
  together.
- Time: its seconds per suggestion at the end of a run are at most a tenth of BoTorch's, in the
  median over pairs of runs of the same cell, seed and length; the longest runs decide.
- Without noise: no significant loss to EI (Holm over the problems), and the mean difference over
  problems is below 0.1, a factor of 1.26 in regret, by the upper end of its 95 % bootstrap
  interval.
- Failures: none of its runs failed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo_lab.compare import SIGNIFICANT
from ceibo_lab.plans.suite import COMPARED, LOCKED, LOCKED_SEEDS, TIMED_TRIALS, noises
from ceibo_lab.problems import NAMES
from ceibo_lab.record import Record
from pages.default.analysis import (
    DEFAULT,
    RIVALS,
    bootstrap,
    over_cases,
    overall,
    rank,
    tally,
    versus,
)
from pages.default.names import case_name, listed, method_name
from pages.default.runs import Runs, range_of, seconds

TIMES_FASTER: Final = 10.0
MARGIN: Final = 0.1  # log10 of the regret: by how much worse still counts as no worse
LARGEST: Final = 20e6  # bytes of records and figures


@final
@dataclass(frozen=True)
class Target:
    """A target, whether it is met (None: the records do not say), and what decides it."""

    statement: str
    met: bool | None
    found: str
    where: str = ""

    @property
    def verdict(self) -> str:
        word = {True: "met", False: "missed", None: "not decided"}[self.met]
        return f"{word} {self.where}".strip()


def p_value(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def lacking(locked: Runs) -> str:
    """A sentence on the planned runs of the locked half that are missing; empty if none is."""
    planned = [(name, noise) for name in LOCKED for noise in noises(name)]
    there = {(case.problem, case.protocol, case.level): case for case in locked.cases}
    missing = dict.fromkeys(COMPARED, 0)
    for method in missing:
        for name, (protocol, level) in planned:
            case = there.get((name, protocol, round(level, 6)))
            missing[method] += max(LOCKED_SEEDS - len(locked.of(case, method) if case else ()), 0)
    few = [f"{count} of {method_name(method)}" for method, count in missing.items() if count]
    total = len(planned) * LOCKED_SEEDS
    if not few:
        return ""
    return (
        f"Of the {total} runs planned for each method on the locked half these are missing:"
        f" {listed(few)}."
    )


def ranks_target(locked: Runs) -> Target:
    statement = (
        "Over the cells of the locked half its mean rank is better than each of"
        f" {listed([method_name(rival) for rival in RIVALS])} (paired test over cells, Holm over"
        " the three, p < 0.05)."
    )
    found = rank(locked)
    rows = overall(found)
    if not rows:
        return Target(statement, None, "There are no cells with runs of all of them.")
    ours = found.mean(DEFAULT)
    beaten = [row for row in rows if ours < found.mean(row.method) and row.ranks_p < SIGNIFICANT]
    each = [
        f"{method_name(row.method)} {found.mean(row.method):.2f} ({p_value(row.ranks_p)}, problem"
        f" by problem {p_value(row.problems_p)}; on mean log regret {p_value(row.means_p)}, better"
        f" in {row.means.below} cells, worse in {row.means.above})"
        for row in rows
    ]
    said = (
        f"Mean rank of the default {ours:.2f} over {len(found.cases)} cells, against"
        f" {'; '.join(each)}."
    )
    for rival in [name for name in RIVALS if name not in found.methods and name in locked.methods]:
        beside, seeds = over_cases(locked, rival)
        said += (
            f" {method_name(rival)} has too few runs to be ranked. On the seeds both have,"
            f" {min(seeds)} to {max(seeds)} a cell, the default's mean log regret is lower in"
            f" {beside.below} cells and higher in {beside.above} ({p_value(beside.p)}, not"
            " corrected)."
        )
    return Target(statement, len(beaten) == len(RIVALS) if len(rows) == len(RIVALS) else None, said)


def wins_target(locked: Runs) -> Target:
    statement = (
        "Per cell, more significant wins than losses against each of them, and at most one"
        " significant loss in all."
    )
    rows = versus(locked)
    present = [rival for rival in RIVALS if any(row.method == rival for row in rows)]
    if not present:
        return Target(statement, None, "There are no pairs of runs.")
    counts = {rival: tally(rows, rival) for rival in present}
    raw = {rival: tally(rows, rival, corrected=False) for rival in present}
    lost = [row for row in rows if row.method in RIVALS and row.outcome == "loss"]
    met = all(win > loss for win, _, loss in counts.values()) and len(lost) <= 1
    each = [
        f"{method_name(rival)} {win} / {tie} / {loss} (without correction {raw[rival][0]} /"
        f" {raw[rival][1]} / {raw[rival][2]})"
        for rival, (win, tie, loss) in counts.items()
    ]
    where = [
        f"{case_name(row.case)} to {method_name(row.method)} by {row.difference:.2f}"
        for row in lost
    ]
    said = (
        f"Significant wins / ties / losses: {'; '.join(each)}. Significant losses:"
        f" {'; '.join(where) or 'none'}."
    )
    return Target(statement, met if len(present) == len(RIVALS) else None, said)


def time_target(records: Sequence[Record]) -> Target:
    statement = (
        f"Its time per suggestion is at least {TIMES_FASTER:g}× below BoTorch's with qLogNEI at n ="
        f" {TIMED_TRIALS}."
    )
    found = seconds(records)
    ours, theirs = found.get(DEFAULT, {}), found.get("botorch-qlognei", {})
    lengths = [n for n in set(ours) & set(theirs) if set(ours[n]) & set(theirs[n])]
    if not lengths:
        return Target(statement, None, "There are no pairs of timed runs.")
    n = max(lengths)
    pairs = sorted(set(ours[n]) & set(theirs[n]))
    ratios = [theirs[n][pair] / max(ours[n][pair], 1e-9) for pair in pairs]
    slowest = {
        pair[0]: min(r for r, p in zip(ratios, pairs, strict=True) if p[0] == pair[0])
        for pair in pairs
    }
    least = min(slowest, key=lambda case: slowest[case])
    middle = float(np.median(ratios))
    said = (
        f"At n = {n - 9} to {n} BoTorch takes {np.median([theirs[n][p] for p in pairs]):.3g} s and"
        f" the default {np.median([ours[n][p] for p in pairs]):.3g} s (medians); run by run"
        f" {middle:.1f} times as long in the median of {len(pairs)} pairs, and {slowest[least]:.1f}"
        f" times at the least, in {case_name(least)}."
    )
    if n < TIMED_TRIALS:
        said += (
            f" These are the longest runs there are: nothing was timed at n = {TIMED_TRIALS} here."
        )
    return Target(statement, middle >= TIMES_FASTER, said, f"at n = {n}")


def noiseless_target(noiseless: Runs) -> Target:
    statement = "It is no worse than EI on the noise-free versions of the same problems."
    rows = versus(noiseless, methods=("ei",))
    if not rows:
        return Target(statement, None, "There are no runs without noise.")
    win, tie, loss = tally(rows, "ei")
    each = bootstrap(np.array([row.difference for row in rows]))
    worst = max(rows, key=lambda row: row.difference)
    said = (
        f"Over {len(rows)} problems {win} / {tie} / {loss} significant wins / ties / losses; mean"
        f" difference of final log10 regret {each.mean:+.3f}, 95 % interval [{each.low:+.3f},"
        f" {each.high:+.3f}] over problems (negative: the default is better); least good on"
        f" {NAMES[worst.case.problem]}, {worst.difference:+.3f}."
    )
    said += f" Met if the interval ends below {MARGIN:+g} and nothing is lost significantly."
    return Target(statement, loss == 0 and each.high < MARGIN, said)


def failures_target(records: Sequence[Record]) -> Target:
    statement = (
        "Doubling the noise, leaving the noise unknown, or scaling and shifting the objective never"
        " makes it fail (0 failed runs in the whole sweep)."
    )
    ours = [record for record in records if record["cell"]["method"] == DEFAULT]
    if not ours:
        return Target(statement, None, "There are no runs of the default.")
    failed = sum(record["status"] == "failed" for record in ours)
    others = sum(record["status"] == "failed" for record in records) - failed
    levels = sorted(
        {
            record["cell"]["level"]
            for record in ours
            if not record["cell"]["protocol"].startswith("meas")
        }
    )
    ranges = [
        range_of(name)
        for name in {record["cell"]["problem"] for record in ours if record["status"] == "done"}
    ]
    said = (
        f"{failed} of {len(ours)} runs of the default failed, and {others} of the"
        f" {len(records) - len(ours)} others. Noise of"
        f" {listed([f'{100 * level:g} %' for level in levels])} of the range, told and not told"
    )
    if ranges:
        said += (
            f"; ranges from {min(ranges):.2g} to {max(ranges):.2g}, given to the methods as"
            " they are"
        )
    said += (
        ". Scaling and shifting one objective is not part of the sweep; `tests/gp/test_fit.py`"
        " holds that a power of two changes no bit of a suggestion, and a shift no more than"
        " rounding does."
    )
    return Target(statement, failed == 0, said)


def size_target(size: int, count: int) -> Target:
    statement = "One command repeats any cell; records and figures under 20 MB are committed."
    said = f"{count} records and the figures are {size / 1e6:.1f} MB; the commands are below."
    return Target(statement, size < LARGEST, said)
