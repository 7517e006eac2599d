"""The figures of the default's page: PNG and SVG, the same bytes for the same records."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import MultipleLocator

from ceibo_lab.compare import band
from ceibo_lab.figures import Figure, Plan, Style, draw_plan
from ceibo_lab.library import Setting
from ceibo_lab.problems import NAMES
from pages.default.analysis import DEFAULT, TAUS, Ranks, bootstrap, profile, rank
from pages.default.names import case_name, method_name, noise_name
from pages.default.runs import PRIMARY, Runs

_STYLES: Final[dict[str, Style]] = {
    "default": ("#000000", "-", "o"),
    "ei": ("#2166ac", "--", "s"),
    "corrected-ei": ("#1b7837", "-.", "^"),
    "random": ("#999999", (0, (1, 1.2)), "x"),
    "botorch-qlognei": ("#b2182b", (0, (6, 1.5)), "D"),
    "optuna-gp": ("#e08214", (0, (3, 1, 1, 1)), "P"),
}
_OTHERS: Final[tuple[Style, ...]] = (
    ("#762a83", "--", "v"),
    ("#35978f", "-.", "<"),
    ("#8c510a", ":", ">"),
    ("#c51b7d", (0, (5, 1)), "h"),
)
_SETTINGS: Final[dict[Any, Any]] = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 8,
    "svg.hashsalt": "ceibo",
    "svg.fonttype": "none",
}
_COLUMNS: Final = 4
_RUNS_SHOWN: Final = 4  # losing runs, at most


def write_figures(
    runs: Runs, folder: Path, losses: Sequence[tuple[Setting, str]] = ()
) -> list[tuple[str, str]]:
    """Draws the figures there are runs for; returns (file name of the PNG, caption) of each.

    Args:
        runs: the runs of one half of the suite.
        folder: where the files are put.
        losses: cases the default lost, each with the method it lost to.
    """
    found = rank(runs)
    plan: Plan = (
        (
            "default-convergence",
            (
                "log10 regret of what each tool recommends after so many trials, mean over seeds"
                " and its 95 % band"
            ),
            lambda: convergence(runs, found),
        ),
        (
            "default-ranks",
            "Mean rank over the cells, with 95 % bootstrap intervals",
            lambda: mean_ranks(found),
        ),
        (
            "default-profile",
            (
                "Performance profile: share of runs whose final regret is within a factor of the"
                " best method's there"
            ),
            lambda: performance_profile(runs, found),
        ),
        (
            "default-losses",
            (
                "One run of each cell lost, the one whose final difference is the median: the"
                " default beside the winner"
            ),
            lambda: losing_runs(runs, losses[:_RUNS_SHOWN]),
        ),
    )
    return draw_plan(plan, folder, _SETTINGS, dpi=130)


def _style(method: str, methods: Sequence[str]) -> Style:
    others = [each for each in methods if each not in _STYLES]
    return _STYLES.get(method) or _OTHERS[others.index(method) % len(_OTHERS)]


def convergence(runs: Runs, found: Ranks) -> Figure | None:
    """A panel per case; the seeds that all ranked methods have, as in the tables."""
    if not found.cases:
        return None
    columns = min(_COLUMNS, len(found.cases))
    rows = -(-len(found.cases) // columns)
    size = (2.75 * columns + 0.2, 2.15 * rows + 0.9)
    figure, axes = plt.subplots(rows, columns, figsize=size, constrained_layout=True, squeeze=False)
    for axis in axes.flat[len(found.cases) :]:
        axis.set_axis_off()
    for k, case in enumerate(found.cases):
        axis = axes.flat[k]
        curves = {method: runs.curves(case, method, PRIMARY.answer) for method in found.methods}
        seeds = sorted(set.intersection(*(set(each) for each in curves.values())))
        n = runs.checkpoints(case)
        for method in reversed(found.methods):  # the default on top
            colour, dash, marker = _style(method, found.methods)
            shown = band([curves[method][seed] for seed in seeds])
            main = method == DEFAULT
            axis.fill_between(
                n, shown.low, shown.high, color=colour, alpha=0.2 if main else 0.08, linewidth=0
            )
            axis.plot(
                n,
                shown.mean,
                color=colour,
                linestyle=dash,
                marker=marker,
                markersize=3.5 if main else 3,
                linewidth=1.9 if main else 1.0,
                label=method_name(method),
            )
        axis.set_title(f"{NAMES[case.problem]}\nnoise {noise_name(case)}; n = {len(seeds)}")
        axis.xaxis.set_major_locator(MultipleLocator(20))
        axis.set_ylabel("log10 regret" if k % columns == 0 else "")
        axis.set_xlabel("trials" if k + columns >= len(found.cases) else "")
    return _with_legend(figure, axes[0][0], found.methods)


def mean_ranks(found: Ranks) -> Figure | None:
    """Best on top; a whisker is the interval over cases."""
    if not found.cases:
        return None
    intervals = {method: bootstrap(found.column(method)) for method in found.methods}
    order = sorted(found.methods, key=lambda method: intervals[method].mean)
    figure, axis = plt.subplots(figsize=(6.2, 0.34 * len(order) + 0.9), constrained_layout=True)
    for place, method in enumerate(order):
        each, (colour, _, marker) = intervals[method], _style(method, found.methods)
        axis.plot(
            [each.low, each.high],
            [place, place],
            color=colour,
            linewidth=2.2 if method == DEFAULT else 1.2,
        )
        axis.plot(each.mean, place, color=colour, marker=marker, markersize=7)
        axis.annotate(
            f"{each.mean:.2f}",
            (each.mean, place),
            textcoords="offset points",
            xytext=(0, 6),
            ha="center",
            fontsize=7,
        )
    axis.set_yticks(range(len(order)), [method_name(method) for method in order])
    axis.set_ylim(len(order) - 0.5, -0.8)
    axis.set_xlim(0.8, len(order) + 0.2)
    axis.grid(axis="x", color="0.9")
    axis.set_axisbelow(True)
    axis.set_xlabel(
        f"mean rank among {len(order)} over {len(found.cases)} cells (1 is best), 95 % interval"
    )
    return figure


def performance_profile(runs: Runs, found: Ranks) -> Figure | None:
    """Shares over all pairs of a case and a seed with every ranked method."""
    count, shares = profile(runs, found.methods)
    if not count:
        return None
    figure, axis = plt.subplots(figsize=(6.6, 3.4), constrained_layout=True)
    for k, method in enumerate(found.methods):
        colour, dash, marker = _style(method, found.methods)
        axis.plot(
            TAUS,
            shares[k],
            color=colour,
            linestyle=dash,
            marker=marker,
            markevery=(2 * k, 16),
            markersize=4,
            linewidth=2.0 if method == DEFAULT else 1.2,
            label=method_name(method),
        )
    axis.set(xscale="log", xlim=(1.0, TAUS[-1]), ylim=(0.0, 1.02))
    axis.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    axis.minorticks_off()
    axis.grid(color="0.92")
    axis.set_xlabel("factor τ")
    axis.set_ylabel(f"share of {count} runs within τ of the best")
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False, handlelength=3.5)
    return figure


def losing_runs(runs: Runs, losses: Sequence[tuple[Setting, str]]) -> Figure | None:
    """What was recommended and the best point measured, in one run of each case lost."""
    if not losses:
        return None
    size = (2.75 * max(len(losses), 2) + 0.2, 3.1)
    figure, axes = plt.subplots(
        1, len(losses), figsize=size, constrained_layout=True, squeeze=False
    )
    for axis, (case, winner) in zip(axes.flat, losses, strict=True):
        seed = median_seed(runs, case, winner)
        for method, colour, marker in ((DEFAULT, "#000000", "o"), (winner, "#b2182b", "D")):
            for answer, dash, words in (
                ("own", "-", "recommended"),
                ("oracle", ":", "best of its points"),
            ):
                curve = runs.curves(case, method, answer)[seed]
                who = "the default" if method == DEFAULT else "the winner"
                axis.plot(
                    runs.checkpoints(case),
                    curve,
                    color=colour,
                    linestyle=dash,
                    marker=marker,
                    markersize=3.5,
                    linewidth=1.3,
                    label=f"{who}: {words}",
                )
        problem, _, noise = case_name(case).partition(", ")
        axis.set_title(f"{problem}, seed {seed}\nnoise {noise}\nwon by {method_name(winner)}")
        axis.xaxis.set_major_locator(MultipleLocator(20))
        axis.set_xlabel("trials")
    axes[0][0].set_ylabel("log10 regret")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncol=min(2 * len(losses), 4), frameon=False
    )
    return figure


def median_seed(runs: Runs, case: Setting, winner: str) -> int:
    """The seed whose difference between the default and the winner is the (upper) median."""
    ours, theirs = runs.values(case, DEFAULT), runs.values(case, winner)
    seeds = sorted(set(ours) & set(theirs), key=lambda seed: (ours[seed] - theirs[seed], seed))
    return seeds[len(seeds) // 2]


def _with_legend(figure: Figure, axis: Any, order: Sequence[str]) -> Figure:
    handles, labels = axis.get_legend_handles_labels()
    place = {label: handle for handle, label in zip(handles, labels, strict=True)}
    names = [method_name(method) for method in order]
    figure.legend(
        [place[name] for name in names],
        names,
        loc="outside lower center",
        ncol=min(len(names), 6),
        frameon=False,
        handlelength=3.5,
    )
    return figure
