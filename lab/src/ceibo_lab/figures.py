"""The paper's figures, from records: PNG and SVG. Lines differ by dash and marker too: grey prints
stay readable.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

from ceibo_lab import measures
from ceibo_lab.claims import NAMES
from ceibo_lab.experiments import DRAW_WIDTHS, FOUR, KAPPA_SHARES, LEVELS
from ceibo_lab.library import Library, Setting
from ceibo_lab.methods import LABELS, METHODS, PAPER_SEVEN
from ceibo_lab.problems import PROBLEMS
from ceibo_lab.problems.draws import draw, kernel_matrix
from ceibo_lab.statistics import band

# colour (from dark to light as well), dash, marker
_STYLES: Final = {
    "corrected-ei": ("#1b7837", "-", "o"),
    "ei": ("#2166ac", "--", "s"),
    "corrected-pi": ("#762a83", "-.", "^"),
    "pi": ("#9970ab", ":", "v"),
    "ucb": ("#b35806", (0, (5, 1)), "D"),
    "noisy-ei": ("#e08214", (0, (3, 1, 1, 1)), "P"),
    "q-noisy-ei": ("#7f7f7f", (0, (1, 1)), "X"),
}
_AXES: Final = {
    "best": "log10 regret",
    "recommended": "log10 regret (recommended)",
    "oracle": "log10 regret (oracle)",
}
_SETTINGS: Final[dict[Any, Any]] = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "ceibo",
    "svg.fonttype": "none",
}
Figure = Any
Plan = Sequence[tuple[str, str, Callable[[], Figure | None]]]  # name, caption, how to draw it


def write_figures(library: Library, folder: Path) -> list[tuple[str, str]]:
    """Draws every figure there are records for; returns (file name of the PNG, caption) of each."""
    return draw_plan(_plan(library), folder, _SETTINGS)


def draw_plan(
    plan: Plan, folder: Path, settings: dict[Any, Any], dpi: int = 110
) -> list[tuple[str, str]]:
    """Draws what there is something to draw for, the same bytes every time; (file name of the PNG,
    caption) of each.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with mpl.rc_context(settings):
        for name, caption, make in plan:
            figure = make()
            if figure is None:
                continue
            figure.savefig(folder / f"{name}.png", dpi=dpi, metadata={"Software": None})
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
            plt.close(figure)
            written.append((f"{name}.png", caption))
    return written


def _plan(library: Library) -> Plan:
    plan: list[tuple[str, str, Callable[[], Figure | None]]] = [
        ("scenario", "Where EI and corrected EI want to measure next", lambda: scenario(library)),
        (
            "profit",
            "Profit when stopping at κ, Sphere 3, mean and 95 % band",
            lambda: profit(library),
        ),
        (
            "gp-samples",
            "Draws of a Gaussian process: corrected EI against EI at the stop",
            lambda: samples(library),
        ),
        ("gp-draws", "The 30 draws, and their kernel matrix", lambda: pictures_of_draws(library)),
        (
            "cost",
            "Seconds per suggestion: fit and maximise at n = 150, and over n",
            lambda: cost(library),
        ),
        (
            "theory",
            "Cumulative regret beside the bound, and γ_T against T",
            lambda: theory(library),
        ),
        (
            "noise-levels",
            "Griewank 6, distance of `best` to the optimiser, by noise level",
            lambda: noise_levels(library),
        ),
    ]
    for level, protocol, variant in (
        (0.10, "heteroscedastic", "plain"),
        (0.10, "heteroscedastic", "shifted"),
        (0.10, "reference-code", "plain"),
        (0.10, "reference-code", "shifted"),
        (0.15, "heteroscedastic", "plain"),
    ):
        like = Setting("", "", variant, protocol, level)
        words = f"noise {100 * level:.0f} %, {protocol}, {variant}: mean and 95 % band"
        stem = f"benchmark-{level * 100:.0f}-{protocol}-{variant}"
        plan.append(
            (stem, f"Benchmark, {words}", partial(benchmark, library, like, ("best", "distance")))
        )
        plan.append(
            (
                f"{stem}-measures",
                f"The other measures, {words}",
                partial(benchmark, library, like, ("recommended", "oracle")),
            )
        )
    return plan


def _curve(axis: Any, library: Library, setting: Setting, measure: str) -> bool:
    runs = list(library.runs(setting).values())
    if not runs:
        return False
    colour, dash, marker = _STYLES.get(setting.method, ("black", "-", None))
    t = measures.times(runs[0], measure)
    # small files: some 60 points
    shown = np.unique(np.append(np.arange(0, len(t), 1 + len(t) // 60), len(t) - 1))
    t = t[shown]
    found = band([measures.series(run, measure)[shown] for run in runs])
    every = max(len(t) // 6, 1)
    main = setting.method in ("corrected-ei", "ei")
    axis.fill_between(
        t, found.low, found.high, color=colour, alpha=0.18 if main else 0.07, linewidth=0
    )
    axis.plot(
        t,
        found.mean,
        color=colour,
        linestyle=dash,
        marker=marker,
        markevery=every,
        markersize=3,
        linewidth=1.6 if main else 0.9,
        label=METHODS[setting.method].label,
    )
    return True


def _frame(axis: Any, low: float | None = None) -> None:
    """The axis shows the means with some room; bands of few replications may leave it."""
    values = np.concatenate([line.get_ydata() for line in axis.get_lines()] or [np.zeros(1)])
    room = 0.25 * float(np.ptp(values)) + 1e-3
    bottom = float(values.min()) - room
    axis.set_ylim(bottom if low is None else max(bottom, low), float(values.max()) + room)


def benchmark(library: Library, like: Setting, shown: tuple[str, str]) -> Figure | None:
    """Two rows of measures, one column per function; as in the paper."""
    figure, axes = plt.subplots(2, 4, figsize=(11, 5), constrained_layout=True)
    drawn = False
    for column, name in enumerate(FOUR):
        for row, measure in enumerate(shown):
            axis = axes[row][column]
            for method in PAPER_SEVEN:
                drawn |= _curve(
                    axis,
                    library,
                    Setting(name, method, like.variant, like.protocol, like.level),
                    measure,
                )
            axis.set(
                xlabel="evaluations after the initial design", title=NAMES[name] if row == 0 else ""
            )
            _frame(axis, 0.0 if measure == "distance" else None)
            axis.set_ylabel(
                _AXES.get(measure, "L2 distance to the optimiser") if column == 0 else ""
            )
    return _with_legend(figure, axes[0][0]) if drawn else _nothing(figure)


def noise_levels(library: Library) -> Figure | None:
    figure, axes = plt.subplots(2, 4, figsize=(11, 5), constrained_layout=True, sharey=True)
    drawn = False
    for axis, level in zip(axes.flat, LEVELS, strict=True):
        for method in PAPER_SEVEN:
            drawn |= _curve(axis, library, Setting("griewank", method, level=level), "distance")
        axis.set(
            title=f"noise up to {100 * level:.0f} %", xlabel="evaluations after the initial design"
        )
    axes[0][0].set_ylim(bottom=0.0)
    axes[0][0].set_ylabel("L2 distance to the optimiser")
    axes[1][0].set_ylabel("L2 distance to the optimiser")
    return _with_legend(figure, axes[0][0]) if drawn else _nothing(figure)


def profit(library: Library) -> Figure | None:
    scale = PROBLEMS["sphere"]().range
    kappas = np.array(KAPPA_SHARES) * scale
    figure, (axis, stops) = plt.subplots(1, 2, figsize=(8, 3.2), constrained_layout=True)
    drawn = False
    for method in ("ei", "corrected-ei"):
        runs = list(
            library.runs(
                Setting("sphere", method, protocol="homoscedastic", level=20 / 300)
            ).values()
        )
        if not runs:
            continue
        drawn = True
        ends = [[measures.stop_at(run, kappa) for kappa in kappas] for run in runs]
        colour, dash, marker = _STYLES[method]
        for place, rows in (
            (axis, [[e.profit for e in r] for r in ends]),
            (stops, [[e.t for e in r] for r in ends]),
        ):
            found = band(np.array(rows, dtype=float))
            place.plot(
                kappas,
                found.mean,
                color=colour,
                linestyle=dash,
                marker=marker,
                markersize=4,
                label=LABELS[method],
            )
            place.fill_between(kappas, found.low, found.high, color=colour, alpha=0.18, linewidth=0)
        for k, kappa in enumerate(kappas):
            censored = sum(row[k].censored for row in ends)
            if censored:
                height = float(np.mean([row[k].t for row in ends]))
                stops.annotate(
                    f"{censored}",
                    (kappa, height),
                    textcoords="offset points",
                    xytext=(0, 5),
                    color=colour,
                )
    axis.set(xscale="log", xlabel="κ", ylabel="profit −f(x⁺) − κ t")
    stops.set(xscale="log", xlabel="κ", ylabel="evaluations until κ")
    stops.set_title("numbers: runs that never got there", fontsize=7)
    _frame(stops, 0.0)
    _frame(axis)
    if not drawn:
        return _nothing(figure)
    axis.legend(frameon=False)
    return figure


def samples(library: Library) -> Figure | None:
    figure, axes = plt.subplots(1, 4, figsize=(11, 3), constrained_layout=True)
    drawn = False
    shown = [(width, field) for width in DRAW_WIDTHS for field in ("at_stop", "best")]
    for axis, (width, field) in zip(axes, shown, strict=True):
        setting = Setting(
            f"gp-draw-{width}", "", protocol="homoscedastic", level=0.16, kind="draws"
        )
        pairs = library.pairs(setting.by("ei"), setting.by("corrected-ei"))
        if not pairs:
            continue
        drawn = True
        x, y = ([record["trace"][field] for record in side] for side in zip(*pairs, strict=True))
        ends = [min(*x, *y), max(*x, *y)]
        axis.plot(ends, ends, color="black", linestyle=":", linewidth=0.8)
        axis.scatter(x, y, s=14, color="#1b7837", edgecolor="black", linewidth=0.4)
        what = "f(x_t) at the stop" if field == "at_stop" else "f(x⁺) at the stop"
        axis.set(
            title=f"{what}, domain [0, {width}]", xlabel="EI", ylabel="corrected EI", aspect="equal"
        )
    return figure if drawn else _nothing(figure)


def pictures_of_draws(library: Library) -> Figure | None:
    width = DRAW_WIDTHS[0]
    if not library.runs(
        Setting(f"gp-draw-{width}", "ei", protocol="homoscedastic", level=0.16, kind="draws")
    ):
        return None
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), constrained_layout=True)
    x = np.linspace(0, width, 200)
    for seed in range(30):
        left.plot(x, draw(width, seed)(x), linewidth=0.6, color=str(0.1 + 0.6 * (seed % 5) / 4))
    left.set(xlabel="x", ylabel="f(x)", title="30 draws, length scale 3, amplitude 1")
    image = right.imshow(kernel_matrix(width, 200), cmap="Greys", extent=(0, width, width, 0))
    right.set(xlabel="x", ylabel="x'", title="kernel matrix")
    figure.colorbar(image, ax=right)
    return figure


def scenario(library: Library) -> Figure | None:
    runs = library.runs(
        Setting("scenario", "ei", protocol="homoscedastic", level=0.30, kind="scenario")
    )
    if not runs:
        return None
    trace = runs[min(runs)]["trace"]
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(5.5, 4.6), constrained_layout=True, sharex=True
    )
    grid, mean, std = (np.array(trace[name]) for name in ("grid", "mean", "std"))
    top.fill_between(
        grid, mean - 1.96 * std, mean + 1.96 * std, color="0.85", label="95 % of the posterior"
    )
    top.plot(grid, mean, color="black", label="posterior mean")
    top.plot(grid, trace["f"], color="black", linestyle=":", label="f")
    top.errorbar(
        trace["x"],
        trace["y"],
        yerr=trace["noise"],
        fmt="x",
        color="0.3",
        markersize=4,
        linewidth=0.6,
    )
    top.axvline(
        trace["incumbent"], color="0.5", linewidth=0.8, linestyle="-.", label="incumbent x⁺"
    )
    top.legend(frameon=False, fontsize=6, ncol=2)
    for name, values in trace["acquisition"].items():
        colour, dash, marker = _STYLES[name]
        bottom.plot(grid, values, color=colour, linestyle=dash, label=LABELS[name])
        bottom.plot(
            trace["next"][name],
            np.interp(trace["next"][name], grid, values),
            color=colour,
            marker=marker,
        )
    bottom.axvline(trace["incumbent"], color="0.5", linewidth=0.8, linestyle="-.")
    bottom.set(xlabel="x", ylabel="acquisition (marker: next point)")
    bottom.legend(frameon=False)
    return figure


def cost(library: Library) -> Figure | None:
    found = {
        m: list(library.runs(Setting("griewank", m, kind="cost")).values()) for m in PAPER_SEVEN
    }
    found = {method: runs for method, runs in found.items() if runs}
    if not found:
        return None
    figure, (bars, lines) = plt.subplots(1, 2, figsize=(9, 3.2), constrained_layout=True)
    for place, (method, runs) in enumerate(found.items()):
        sizes = runs[0]["trace"]["n"]
        fit, search = (
            1e3 * np.median([run["run"][part] for run in runs], axis=0)
            for part in ("fit", "maximise")
        )
        at = sizes.index(150)
        bars.barh(
            place, fit[at], color="0.75", edgecolor="black", label="fit" if place == 0 else None
        )
        bars.barh(
            place,
            search[at],
            left=fit[at],
            color="0.4",
            edgecolor="black",
            hatch="//",
            label="" if place else "maximise",
        )
        colour, dash, marker = _STYLES[method]
        lines.plot(
            sizes,
            fit + search,
            color=colour,
            linestyle=dash,
            marker=marker,
            markersize=4,
            label=LABELS[method],
        )
    bars.set_yticks(range(len(found)), [LABELS[method] for method in found])
    bars.invert_yaxis()
    bars.set(xlabel="milliseconds per suggestion, n = 150, d = 6")
    bars.legend(frameon=False)
    lines.set(xlabel="observations", ylabel="milliseconds per suggestion", yscale="log")
    lines.legend(frameon=False, fontsize=6)
    return figure


def theory(library: Library) -> Figure | None:
    runs = {name: library.runs(Setting(name, "corrected-ei", kind="theory")) for name in NAMES}
    runs = {name: found for name, found in runs.items() if found}
    if not runs:
        return None
    figure, axes = plt.subplots(
        2, len(runs), figsize=(2.3 * len(runs), 4.4), constrained_layout=True, squeeze=False
    )
    for column, (name, found) in enumerate(runs.items()):
        trace = found[min(found)]["trace"]
        top, bottom = axes[0][column], axes[1][column]
        top.plot(
            trace["T"], trace["regret"], color="black", marker="o", markersize=3, label="regret"
        )
        top.plot(trace["T"], trace["bound"], color="0.4", linestyle="--", label="bound")
        top.set(title=NAMES[name], yscale="log")
        bottom.plot(
            trace["T"], trace["maximal_gain"], color="0.4", linestyle="--", label="γ_T at most"
        )
        bottom.plot(
            trace["T"],
            trace["realised_gain"],
            color="black",
            marker="o",
            markersize=3,
            label="realised",
        )
        bottom.set(xlabel="T")
    axes[0][0].set_ylabel("cumulative regret")
    axes[1][0].set_ylabel("information gain (nats)")
    axes[0][0].legend(frameon=False)
    axes[1][0].legend(frameon=False)
    return figure


def _with_legend(figure: Figure, axis: Any) -> Figure:
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncol=7, frameon=False)
    return figure


def _nothing(figure: Figure) -> Figure | None:
    """No records, no figure."""
    plt.close(figure)
    return None
