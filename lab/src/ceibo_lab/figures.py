"""The paper's figures, from records: PNG and SVG."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

from ceibo_lab import measures
from ceibo_lab.claims import PLAIN, REFERENCE, REFERENCE_SHIFTED, SHIFTED, STRONG
from ceibo_lab.compare import band
from ceibo_lab.library import Library, Setting
from ceibo_lab.methods import LABELS, METHODS, PAPER_SEVEN
from ceibo_lab.plans.benchmark import FOUR, LEVELS, TWO
from ceibo_lab.plans.special import DRAW_WIDTHS, KAPPA_SHARES
from ceibo_lab.problems import NAMES, PROBLEMS
from ceibo_lab.problems.draws import draw, kernel_matrix
from ceibo_lab.record import Record
from ceibo_lab.remarks import SCENARIO, scenario_caption

Style = tuple[str, Any, str]  # colour, dash, marker: grey prints stay readable
# from dark to light as well
STYLES: Final[dict[str, Style]] = {
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
_STEPS: Final = "evaluations after the initial design"
_DISTANCE: Final = "L2 distance to the optimiser"
SETTINGS: Final[dict[Any, Any]] = {
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
    return draw_plan(_plan(library), folder, SETTINGS)


def draw_plan(
    plan: Plan, folder: Path, settings: dict[Any, Any], dpi: int = 110
) -> list[tuple[str, str]]:
    """Draws what there are records for, the same bytes every time.

    Returns (file name of the PNG, caption) of each figure.
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
    plan: list[tuple[str, str, Callable[[Library], Figure | None]]] = [
        ("scenario", scenario_caption(library), scenario),
        ("profit", "Profit when stopping at κ, Sphere 3, mean and 95 % band", profit),
        ("gp-samples", "Draws of a Gaussian process: corrected EI against EI at the stop", samples),
        ("gp-draws", "The 30 draws, and their kernel matrix", pictures_of_draws),
        ("cost", "Seconds per suggestion: fit and maximise at n = 150, and over n", cost),
        ("theory", "Cumulative regret beside the bound, and γ_T against T", theory),
        (
            "noise-levels",
            "Griewank 6, distance of `best` to the optimiser, by noise level",
            noise_levels,
        ),
    ]
    for like in (PLAIN, SHIFTED, REFERENCE, REFERENCE_SHIFTED, STRONG):
        percent = f"{100 * like.level:.0f}"
        words = f"noise {percent} %, {like.protocol}, {like.variant}: mean and 95 % band"
        stem = f"benchmark-{percent}-{like.protocol}-{like.variant}"
        for name, title, shown in (
            (stem, "Benchmark", ("best", "distance")),
            (f"{stem}-measures", "The other measures", ("recommended", "oracle")),
        ):
            plan.append((name, f"{title}, {words}", partial(benchmark, like=like, shown=shown)))
    return [(name, caption, partial(draw, library)) for name, caption, draw in plan]


def _line(axis: Any, x: Any, y: Any, method: str, **look: Any) -> str:
    """A line in the style of a method; returns its colour."""
    colour, dash, marker = STYLES.get(method, ("black", "-", None))
    axis.plot(x, y, color=colour, linestyle=dash, marker=marker, **look)
    return colour


def _curves(axis: Any, library: Library, setting: Setting, measure: str) -> bool:
    """A curve for each of the paper's methods, of the seeds that all of them have."""
    found = library.alike(setting, PAPER_SEVEN)
    shown = [name for name in PAPER_SEVEN if name in found]
    for name in shown:
        _curve(axis, list(found[name].values()), name, measure)
    return bool(shown)


def _curve(axis: Any, runs: list[Record], method: str, measure: str) -> None:
    t = measures.times(runs[0], measure)
    # small files: some 60 points
    shown = np.unique(np.append(np.arange(0, len(t), 1 + len(t) // 60), len(t) - 1))
    t = t[shown]
    found = band([measures.series(run, measure)[shown] for run in runs])
    main = method in TWO
    colour = STYLES[method][0]
    opacity = 0.18 if main else 0.07
    axis.fill_between(t, found.low, found.high, color=colour, alpha=opacity, linewidth=0)
    look = {"markevery": max(len(t) // 6, 1), "markersize": 3, "linewidth": 1.6 if main else 0.9}
    _line(axis, t, found.mean, method, **look, label=METHODS[method].label)


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
            drawn |= _curves(axis, library, replace(like, problem=name), measure)
            axis.set(xlabel=_STEPS, title=NAMES[name] if row == 0 else "")
            _frame(axis, 0.0 if measure == "distance" else None)
            axis.set_ylabel(_AXES.get(measure, _DISTANCE) if column == 0 else "")
    return _with_legend(figure, axes[0][0]) if drawn else _nothing(figure)


def noise_levels(library: Library) -> Figure | None:
    figure, axes = plt.subplots(2, 4, figsize=(11, 5), constrained_layout=True, sharey=True)
    drawn = False
    for axis, level in zip(axes.flat, LEVELS, strict=True):
        drawn |= _curves(axis, library, Setting("griewank", "", level=level), "distance")
        axis.set(title=f"noise up to {100 * level:.0f} %", xlabel=_STEPS)
    axes[0][0].set_ylim(bottom=0.0)
    axes[0][0].set_ylabel(_DISTANCE)
    axes[1][0].set_ylabel(_DISTANCE)
    return _with_legend(figure, axes[0][0]) if drawn else _nothing(figure)


def profit(library: Library) -> Figure | None:
    kappas = np.array(KAPPA_SHARES) * PROBLEMS["sphere"]().range
    setting = Setting("sphere", "", protocol="homoscedastic", level=20 / 300)
    figure, (axis, stops) = plt.subplots(1, 2, figsize=(8, 3.2), constrained_layout=True)
    drawn = False
    for method in ("ei", "corrected-ei"):
        runs = list(library.runs(setting.by(method)).values())
        if not runs:
            continue
        drawn = True
        ends = [[measures.stop_at(run, kappa) for kappa in kappas] for run in runs]
        profits = [[end.profit for end in row] for row in ends]
        times = [[end.t for end in row] for row in ends]
        for place, rows in ((axis, profits), (stops, times)):
            found = band(np.array(rows, dtype=float))
            look = {"markersize": 4, "label": LABELS[method]}
            colour = _line(place, kappas, found.mean, method, **look)
            place.fill_between(kappas, found.low, found.high, color=colour, alpha=0.18, linewidth=0)
        for k, kappa in enumerate(kappas):
            censored = sum(row[k].censored for row in ends)
            if censored:
                at = kappa, float(np.mean([row[k].t for row in ends]))
                above = {"textcoords": "offset points", "xytext": (0, 5)}
                stops.annotate(f"{censored}", at, color=colour, **above)
    axis.set(xscale="log", xlabel="κ", ylabel="profit −f(x⁺) − κ t")
    stops.set(xscale="log", xlabel="κ", ylabel="evaluations until κ")
    stops.set_title("numbers: runs that never got there", fontsize=7)
    _frame(stops, 0.0)
    _frame(axis)
    if not drawn:
        return _nothing(figure)
    axis.legend(frameon=False)
    return figure


def _draws(width: int) -> Setting:
    return Setting(f"gp-draw-{width}", "", protocol="homoscedastic", level=0.16, kind="draws")


def samples(library: Library) -> Figure | None:
    figure, axes = plt.subplots(1, 4, figsize=(11, 3), constrained_layout=True)
    drawn = False
    shown = [(width, field) for width in DRAW_WIDTHS for field in ("at_stop", "best")]
    for axis, (width, field) in zip(axes, shown, strict=True):
        pairs = library.pairs(_draws(width).by("ei"), _draws(width).by("corrected-ei"))
        if not pairs:
            continue
        drawn = True
        x, y = ([record["trace"][field] for record in side] for side in zip(*pairs, strict=True))
        ends = [min(*x, *y), max(*x, *y)]
        axis.plot(ends, ends, color="black", linestyle=":", linewidth=0.8)
        axis.scatter(x, y, s=14, color="#1b7837", edgecolor="black", linewidth=0.4)
        what = "f(x_t) at the stop" if field == "at_stop" else "f(x⁺) at the stop"
        title = f"{what}, domain [0, {width}]"
        axis.set(title=title, xlabel="EI", ylabel="corrected EI", aspect="equal")
    return figure if drawn else _nothing(figure)


def pictures_of_draws(library: Library) -> Figure | None:
    width = DRAW_WIDTHS[0]
    if not library.runs(_draws(width).by("ei")):
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
    runs = library.runs(SCENARIO)
    if not runs:
        return None
    trace = runs[min(runs)]["trace"]
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(5.5, 4.6), constrained_layout=True, sharex=True
    )
    grid, mean, std = (np.array(trace[name]) for name in ("grid", "mean", "std"))
    low, high = mean - 1.96 * std, mean + 1.96 * std
    top.fill_between(grid, low, high, color="0.85", label="95 % of the posterior")
    top.plot(grid, mean, color="black", label="posterior mean")
    top.plot(grid, trace["f"], color="black", linestyle=":", label="f")
    look: dict[str, Any] = {"fmt": "x", "color": "0.3", "markersize": 4, "linewidth": 0.6}
    top.errorbar(trace["x"], trace["y"], yerr=trace["noise"], **look)
    upright: dict[str, Any] = {"color": "0.5", "linewidth": 0.8, "linestyle": "-."}
    top.axvline(trace["incumbent"], **upright, label="incumbent x⁺")
    top.legend(frameon=False, fontsize=6, ncol=2)
    for name, values in trace["acquisition"].items():
        colour, dash, marker = STYLES[name]
        bottom.plot(grid, values, color=colour, linestyle=dash, label=LABELS[name])
        there = trace["next"][name]
        bottom.plot(there, np.interp(there, grid, values), color=colour, marker=marker)
    bottom.axvline(trace["incumbent"], **upright)
    bottom.set(xlabel="x", ylabel="acquisition (marker: next point)")
    bottom.legend(frameon=False)
    return figure


def cost(library: Library) -> Figure | None:
    setting = Setting("griewank", "", kind="cost")
    found = {method: list(library.runs(setting.by(method)).values()) for method in PAPER_SEVEN}
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
        label = "fit" if place == 0 else None
        bars.barh(place, fit[at], color="0.75", edgecolor="black", label=label)
        label = "" if place else "maximise"
        look: dict[str, Any] = {"color": "0.4", "edgecolor": "black", "hatch": "//"}
        bars.barh(place, search[at], left=fit[at], **look, label=label)
        _line(lines, sizes, fit + search, method, markersize=4, label=LABELS[method])
    bars.set_yticks(range(len(found)), [LABELS[method] for method in found])
    bars.invert_yaxis()
    bars.set(xlabel="milliseconds per suggestion, n = 150, d = 6")
    bars.legend(frameon=False)
    lines.set(xlabel="observations", ylabel="milliseconds per suggestion", yscale="log")
    lines.legend(frameon=False, fontsize=6)
    return figure


def theory(library: Library) -> Figure | None:
    like = Setting("", "corrected-ei", kind="theory")
    runs = {name: library.runs(replace(like, problem=name)) for name in (*FOUR, "sphere")}
    runs = {name: found for name, found in runs.items() if found}
    if not runs:
        return None
    size = (2.3 * len(runs), 4.4)
    figure, axes = plt.subplots(2, len(runs), figsize=size, constrained_layout=True, squeeze=False)
    smooth = {
        name: library.runs(replace(like.by("corrected-ei/se"), problem=name)) for name in runs
    }
    found_look: dict[str, Any] = {"color": "black", "marker": "o", "markersize": 3}
    bound_look: dict[str, Any] = {"color": "0.4", "linestyle": "--"}
    for column, (name, found) in enumerate(runs.items()):
        trace = found[min(found)]["trace"]
        top, bottom = axes[0][column], axes[1][column]
        top.plot(trace["T"], trace["regret"], **found_look, label="regret")
        top.plot(trace["T"], trace["bound"], **bound_look, label="bound")
        top.set(title=NAMES[name], yscale="log")
        bottom.plot(trace["T"], trace["maximal_gain"], **bound_look, label="γ_T at most")
        bottom.plot(trace["T"], trace["realised_gain"], **found_look, label="realised")
        for record in list(smooth[name].values())[:1]:
            T, gain = (record["trace"][key] for key in ("T", "maximal_gain"))
            bottom.plot(T, gain, color="0.4", linestyle=":", label="at most, sq. exponential")
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
