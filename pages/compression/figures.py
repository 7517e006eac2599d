"""Figures of the compression experiments: mean best with its band, final results, sizes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

from ceibo_lab.compare import band
from ceibo_lab.figures import STYLES, Figure, Style
from ceibo_lab.library import Library
from ceibo_lab.methods import METHODS
from ceibo_lab.plans.compression import TITLES
from pages.compression.results import ANSWERS, ORDER, finals, runs_of

_STYLES: Final[dict[str, Style]] = {
    **STYLES,
    "random": ("black", (0, (1, 3)), "*"),
    "knowledge-gradient": ("#c51b7d", "-", "<"),
    "corrected-kg": ("#f1b6da", "-", ">"),
}
_SETTINGS: Final[dict[Any, Any]] = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def write_figures(library: Library, folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Draws what there are records for; returns task -> (file name, caption) of each figure."""
    folder.mkdir(parents=True, exist_ok=True)
    written: dict[str, list[tuple[str, str]]] = {}
    plan: tuple[tuple[str, str, Callable[[Library, str], Figure]], ...] = (
        (
            "best",
            (
                "Mean best so far with its 95 % band: the lowest noisy value as in the paper, and"
                " what is true"
            ),
            curves,
        ),
        (
            "final",
            "Final results of each replication, measured again on the whole evaluation set",
            distribution,
        ),
        (
            "size-error",
            "Size and error of the recommended networks, beside the uncompressed one",
            scatter,
        ),
    )
    with mpl.rc_context(_SETTINGS):
        for task in TITLES:
            if not runs_of(library, task):
                continue
            for stem, caption, make in plan:
                figure, name = make(library, task), f"{task}-{stem}.png"
                figure.savefig(folder / name, dpi=110, metadata={"Software": None})
                plt.close(figure)
                written.setdefault(task, []).append((name, caption))
    return written


def curves(library: Library, task: str) -> Figure:
    """The lowest noisy value by evaluations; `best` and `recommended` on the whole set."""
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), constrained_layout=True)
    for method, runs in runs_of(library, task).items():
        traces = [run["trace"] for run in runs.values()]
        evaluations = np.arange(1, len(traces[0]["y"]) + 1)
        _line(axes[0], method, evaluations, [trace["best_observed"] for trace in traces])
        checks = [trace["checks"] for trace in traces]
        common = sorted(set.intersection(*(set(check["evaluations"]) for check in checks)))
        for axis, name in zip(axes[1:], ("best", "recommended"), strict=True):
            rows = [dict(zip(check["evaluations"], check[name], strict=True)) for check in checks]
            _line(axis, method, common, [[row[n] for n in common] for row in rows])
    axes[0].set(title="lowest noisy value seen", ylabel="γ·error + size ratio")
    axes[1].set(title="`best`, on the whole evaluation set")
    axes[2].set(title="`recommended`, on the whole evaluation set")
    for axis in axes:
        axis.set_xlabel("evaluations")
    axes[0].legend(frameon=False, fontsize=7)
    figure.suptitle(_title(library, task))
    return figure


def _line(axis: Any, method: str, x: Any, rows: list[list[float]]) -> None:
    colour, dash, marker = _STYLES.get(method, ("grey", "-", "."))
    found = band(np.array(rows))
    axis.fill_between(x, found.low, found.high, color=colour, alpha=0.1, linewidth=0)
    axis.plot(
        x,
        found.mean,
        color=colour,
        linestyle=dash,
        marker=marker,
        markevery=max(len(x) // 6, 1),
        markersize=3,
        linewidth=1.4 if method in ("corrected-ei", "ei") else 0.9,
        label=METHODS[method].label,
    )


def distribution(library: Library, task: str) -> Figure:
    """One column of dots per method and answer, with the median."""
    figure, axes = plt.subplots(
        1, len(ANSWERS), figsize=(11, 3.4), constrained_layout=True, sharey=True
    )
    methods = list(runs_of(library, task))
    for axis, (answer, words) in zip(axes, ANSWERS.items(), strict=True):
        for column, method in enumerate(methods):
            values = list(finals(library, task, method, answer).values())
            colour, _, marker = _STYLES.get(method, ("grey", "-", "."))
            spread = column + np.linspace(-0.2, 0.2, len(values)) if len(values) > 1 else [column]
            axis.plot(spread, values, linestyle="", marker=marker, color=colour, markersize=4)
            axis.hlines(
                np.median(values), column - 0.35, column + 0.35, color=colour, linewidth=1.5
            )
        axis.set_xticks(
            range(len(methods)), [METHODS[name].label for name in methods], rotation=60, ha="right"
        )
        axis.set_title(words)
    axes[0].set_ylabel("γ·error + size ratio, whole set")
    figure.suptitle(_title(library, task))
    return figure


def scatter(library: Library, task: str) -> Figure:
    """Error against size ratio of the recommended networks."""
    figure, axis = plt.subplots(figsize=(5, 3.6), constrained_layout=True)
    for method in ORDER:
        runs = runs_of(library, task).get(method)
        if not runs:
            continue
        colour, _, marker = _STYLES[method]
        ends = [run["final"]["recommended"] for run in runs.values()]
        axis.plot(
            [end["size_ratio"] for end in ends],
            [end["error"] for end in ends],
            linestyle="",
            marker=marker,
            color=colour,
            markersize=4,
            label=METHODS[method].label,
        )
        original = next(iter(runs.values()))["uncompressed"]["error"]
    axis.axhline(original, color="grey", linewidth=0.8, linestyle=":")
    axis.annotate(
        "uncompressed",
        (0.98, original),
        xycoords=("axes fraction", "data"),
        ha="right",
        va="bottom",
    )
    axis.set(
        xlabel="size ratio of the factorized layers",
        ylabel="error on the whole set",
        title=_title(library, task),
    )
    axis.legend(frameon=False, fontsize=7)
    return figure


def _title(library: Library, task: str) -> str:
    """The task, with the number of replications."""
    return f"{TITLES[task]}, n = {max(len(runs) for runs in runs_of(library, task).values())}"
