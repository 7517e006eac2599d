"""Where the default loses, and when to choose otherwise: sentences computed from the runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo_lab.compare import SIGNIFICANT, compare, holm
from ceibo_lab.library import Setting
from ceibo_lab.methods import CANDIDATES
from ceibo_lab.methods.variants import VARIANTS
from pages.default.analysis import DEFAULT, RIVALS, Ranks, Versus, bootstrap, rank, tally, versus
from pages.default.names import case_name, listed, method_name
from pages.default.runs import PRIMARY, Measure, Runs
from pages.default.targets import p_value

WORSE_THAN: Final = 3.0  # a rank beyond it is looked at
# of the difference: if the points measured explain as much, the search is what lost
_SEARCH_SHARE: Final = 0.5
HIGH: Final = ("hartmann-6-in-12", "branin-in-20")


@final
@dataclass(frozen=True)
class Loss:
    """A case in which the default loses significantly, or is ranked worse than third.

    Differences are means over the common seeds of the default's log regret minus the winner's,
    above zero where the default is worse.
    """

    case: Setting
    rank: float | None  # None: not ranked there
    lost_to: list[str]  # significantly
    winner: str
    final: float
    area: float
    oracle: float  # of the truly best point measured
    # share of the default's measurements at a place measured before, and the winner's
    repeated: tuple[float, float]

    @property
    def reason(self) -> str:
        """Whether the points measured or the choice among them made the difference."""
        if self.final <= 0:
            return "none at the end"
        if self.oracle >= _SEARCH_SHARE * self.final:
            return "the points it measured"
        return "what it recommended from them" if self.oracle <= 0 else "mostly what it recommended"


def losses(runs: Runs, found: Ranks, rows: Sequence[Versus]) -> list[Loss]:
    """The cases that deserve an explanation, worst first."""
    explained = list[Loss]()
    for case in runs.cases:
        lost_to = [row.method for row in rows if row.case == case and row.outcome == "loss"]
        place = (
            float(found.column(DEFAULT)[found.cases.index(case)]) if _ranked(found, case) else None
        )
        if not lost_to and (place is None or place <= WORSE_THAN):
            continue
        gaps = {row.method: row.difference for row in rows if row.case == case}
        winner = max(lost_to or gaps, key=lambda method: gaps[method])
        explained.append(
            Loss(
                case,
                place,
                lost_to,
                winner,
                _gap(runs, case, winner, PRIMARY),
                _gap(runs, case, winner, Measure("own", area=True)),
                _gap(runs, case, winner, Measure("oracle")),
                (_repeated(runs, case, DEFAULT), _repeated(runs, case, winner)),
            )
        )
    return sorted(explained, key=lambda loss: (not loss.lost_to, -loss.final))


def _ranked(found: Ranks, case: Setting) -> bool:
    return DEFAULT in found.methods and case in found.cases


def _gap(runs: Runs, case: Setting, method: str, measure: Measure) -> float:
    ours, theirs = runs.values(case, DEFAULT, measure), runs.values(case, method, measure)
    return float(np.mean([ours[seed] - theirs[seed] for seed in sorted(set(ours) & set(theirs))]))


def _repeated(runs: Runs, case: Setting, method: str) -> float:
    return float(np.mean([run.get("repeated", 0.0) for run in runs.of(case, method).values()]))


def loss_rows(found: Sequence[Loss]) -> list[list[str]]:
    """The losses as rows of a table."""
    return [
        [
            case_name(loss.case),
            "–" if loss.rank is None else f"{loss.rank:g}",
            listed([method_name(method) for method in loss.lost_to]),
            method_name(loss.winner),
            f"{loss.final:+.2f}",
            f"{loss.area:+.2f}",
            f"{loss.oracle:+.2f}",
            f"{100 * loss.repeated[0]:.0f} % / {100 * loss.repeated[1]:.0f} %",
            loss.reason,
        ]
        for loss in found
    ]


@final
@dataclass(frozen=True)
class Situation:
    """A kind of case people ask about."""

    title: str
    holds: Callable[[Setting], bool]


SITUATIONS: Final = (
    Situation("Very noisy: 25 % of the range", lambda case: not _real(case) and case.level >= 0.25),
    Situation(
        "Nearly noise-free: 2 % of the range",
        lambda case: not _real(case) and 0 < case.level <= 0.02,
    ),
    Situation("Unknown noise", lambda case: case.protocol.endswith("untold")),
    Situation("High dimension: 12 and 20, few of them active", lambda case: case.problem in HIGH),
    Situation("Integers and categories", lambda case: case.problem.startswith("mixed")),
)


def _real(case: Setting) -> bool:
    return case.protocol.startswith("measured")


def advice(situation: Situation, locked: Runs, development: Runs, rows: Sequence[Versus]) -> str:
    """What both halves say about a kind of case."""
    return (
        f"**{situation.title}.** {_confirmed(situation, locked, rows)}"
        f" {_explored(situation, development)}"
    )


def _confirmed(situation: Situation, locked: Runs, rows: Sequence[Versus]) -> str:
    found = rank(locked.only(situation.holds))
    if not found.cases or DEFAULT not in found.methods:
        return "No cell of the locked half is of this kind."
    best = min(found.methods, key=found.mean)
    inside = [row for row in rows if situation.holds(row.case)]
    counts = [
        f"{method_name(rival)} {'/'.join(map(str, tally(inside, rival)))}"
        for rival in RIVALS
        if any(row.method == rival for row in inside)
    ]
    first = (
        "and no method's is lower"
        if best == DEFAULT
        else f"the best is {method_name(best)} with {found.mean(best):.2f}"
    )
    return (
        f"Locked half, {_cells(len(found.cases))}: mean rank of the default"
        f" {found.mean(DEFAULT):.2f} of {len(found.methods)}, {first}; significant wins/ties/losses"
        f" against {listed(counts)}."
    )


def _explored(situation: Situation, development: Runs) -> str:
    """The candidate of ceibo's own that did best on the development half, with its test."""
    runs = development.only(situation.holds)
    pairs = {
        name: found for name in runs.methods if name in CANDIDATES and (found := _pairs(runs, name))
    }
    pairs.pop(DEFAULT, None)
    if not pairs:
        return "No cell of the development half is of this kind."
    tests = {name: compare(*zip(*found, strict=True)) for name, found in pairs.items()}
    corrected = dict(zip(tests, holm([test.p for test in tests.values()]), strict=True))
    gaps = {name: float(np.mean([a - b for a, b in found])) for name, found in pairs.items()}
    best = max(gaps, key=lambda name: gaps[name])
    count = _cells(len(runs.cases))
    if gaps[best] <= 0:
        return (
            f"Development half, {count}: no candidate had a lower mean log regret. Keep the"
            " default."
        )
    said = (
        f"Development half, {count}: {method_name(best)} ({settings_of(best)}) did best, by"
        f" {gaps[best]:.2f} in mean log10 regret over {tests[best].n} pairs"
        f" ({p_value(corrected[best])}, Holm over the candidates)."
    )
    if corrected[best] < SIGNIFICANT and tests[best].effect > 0:
        return (
            f"{said} Worth trying there; it was found by looking, and not confirmed on other"
            " problems."
        )
    return f"{said} That is within chance: keep the default."


def _pairs(runs: Runs, method: str) -> list[tuple[float, float]]:
    """(default, method) log regrets of the same case and seed."""
    found = list[tuple[float, float]]()
    for case in runs.cases:
        ours, theirs = runs.values(case, DEFAULT), runs.values(case, method)
        found.extend((ours[seed], theirs[seed]) for seed in sorted(set(ours) & set(theirs)))
    return found


def noise_free(noiseless: Runs) -> str:
    """What the runs without noise say."""
    rows = versus(noiseless, methods=("ei",))
    if not rows:
        return "**Noise-free.** There are no records of it."
    gap, (win, tie, loss) = bootstrap(np.array([row.difference for row in rows])), tally(rows, "ei")
    found = (
        f"**Noise-free.** Against EI the default's final log10 regret differs by {gap.mean:+.2f} in"
        f" the mean of {len(rows)} problems (95 % interval [{gap.low:+.2f}, {gap.high:+.2f}]; below"
        f" zero it is better), with {win} / {tie} / {loss} significant wins / ties / losses."
    )
    if loss > win or gap.low > 0:
        return f'{found} Choose `acquisition="ei"`, and tell `noise=0`.'
    return (
        f"{found} Keep the default, and tell `noise=0`: an exact value is something else than one"
        " of unknown noise."
    )


def settings_of(candidate: str) -> str:
    """What a candidate changes of the default."""
    if candidate not in CANDIDATES:
        return "no longer a candidate"
    if candidate in VARIANTS:
        return VARIANTS[candidate].words
    changed = CANDIDATES[candidate]
    return (
        ", ".join(f"`{name}={value!r}`" for name, value in changed.items()).replace("'", '"')
        or "nothing changed"
    )


def _cells(count: int) -> str:
    return f"{count} cell{'s' * (count != 1)}"
