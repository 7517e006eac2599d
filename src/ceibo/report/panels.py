"""The panels of a report, each as HTML with drawings in SVG."""

import math
from itertools import pairwise

import numpy as np

from ceibo.report.facts import Facts, Slice, Standing
from ceibo.report.parts import clip, labels_of, legend, panel
from ceibo.report.svg import Canvas, Scale, number, text_of
from ceibo.study import Trial

Size = tuple[int, int]
WIDE: Size = (960, 360)
NARROW: Size = (400, 300)
_MOST_DOTS = 250  # measurements shown in a slice, nearest first


def convergence(facts: Facts) -> str:
    """Measurements over trials, the incumbent's posterior, and the raw best that a naive tool would
    report.
    """
    keys = legend(
        ("key-measured", "measurement ± noise"),
        ("key-incumbent", "best setting: posterior mean ± std"),
        ("key-raw", "raw best (naive)"),
        ("key-failed", "failed"),
    )
    drawings = _convergence(facts, WIDE).render("wide") + _convergence(facts, NARROW).render(
        "narrow"
    )
    note = (
        "The blue line is what the model believes of the best setting found so far, given all"
        " measurements together; the faint line is the best single value measured, which noise"
        " flatters."
    )
    return panel("convergence", "Measurements and the best setting", drawings, note, keys)


def _convergence(facts: Facts, size: Size) -> Canvas:
    canvas = Canvas(*size, "Measurements over trials with the best setting's posterior mean")
    points = [
        (trial.number, each.value, each.noise)
        for trial in facts.trials
        for each in trial.measurements
    ]
    x = Scale(-0.5, max(len(facts.trials), 1) + 0.5, *canvas.across)
    y = Scale.over(_range(points, facts.standings), canvas.up)
    canvas.axes(x, y, ("trial", "objective"), (8 if size[0] > 500 else 5, 5))
    told = sorted(points)
    records = facts.direction.accumulate(np.array([value for _, value, _ in told], dtype=float))
    raw = [(x(point[0]), y(float(best))) for point, best in zip(told, records, strict=True)]
    canvas.line(_steps(raw), "raw")
    crowded = len(points) > 300
    for trial_number, value, noise in points:
        at, title = (
            x(trial_number),
            f"trial {trial_number}: {value:.6g}" + ("" if noise is None else f" ± {noise:.2g}"),
        )
        if not y.has(value):
            edge = canvas.up[1] + 5 if value > y.high else canvas.up[0] - 5
            canvas.add(_triangle(at, edge, value > y.high, title))
            continue
        if noise is not None and noise > 0:
            canvas.segment(
                (at, y(max(value - noise, y.low))), (at, y(min(value + noise, y.high))), "bar"
            )
        canvas.dot(at, y(value), 1.8 if crowded else 3, "measured", title)
    for trial in facts.trials:
        if trial.state == "failed":
            canvas.add(_cross(x(trial.number), canvas.up[0] - 6, f"trial {trial.number} failed"))
    _draw_standings(canvas, facts.standings, x, y)
    return canvas


def _draw_standings(canvas: Canvas, standings: tuple[Standing, ...], x: Scale, y: Scale) -> None:
    upper = [(x(each.number - 0.5), y(min(each.mean + each.std, y.high))) for each in standings]
    lower = [(x(each.number - 0.5), y(max(each.mean - each.std, y.low))) for each in standings]
    canvas.band(upper, lower, "band")
    canvas.line(
        [(x(each.number - 0.5), y(min(max(each.mean, y.low), y.high))) for each in standings],
        "incumbent",
    )


def _range(
    points: list[tuple[int, float, float | None]], standings: tuple[Standing, ...]
) -> list[float]:
    """Values to be in sight: the incumbent's band, and measurements that are not far out."""
    values = np.array([value for _, value, _ in points])
    low, high = map(float, np.percentile(values, [25, 75]))
    reach = 3.0 * (high - low) if len(values) > 7 else math.inf
    near = (
        [value for value in values if low - reach <= value <= high + reach]
        if math.isfinite(reach)
        else list(values)
    )
    if not near or reach == 0.0:
        near = list(values)
    bands = [
        each.mean + side * each.std
        for each in standings[-max(len(standings) // 2, 1) :]
        for side in (-1, 1)
    ]
    return [*map(float, near), *bands]


def remaining(facts: Facts) -> str:
    """What one more measurement promises, against its price, and the profit."""
    price = facts.cost
    drawings = "".join(
        _remaining(facts, size).render(kind) for size, kind in ((WIDE, "wide"), (NARROW, "narrow"))
    )
    if price is not None:
        drawings += "".join(
            _profit(facts, size).render(kind) for size, kind in ((WIDE, "wide"), (NARROW, "narrow"))
        )
    keys = legend(
        ("key-gain", "largest expected improvement"), ("key-price", "price of a measurement, κ")
    )
    if price is None or facts.verdict is None:
        note = (
            "No price is set. With <code>cost</code> under <code>[stop]</code> the study ends when"
            " none pays."
        )
    else:
        where = stopping_point(facts)
        stop = "" if where is None else f"The rule stops at trial {where}. "
        note = f"{text_of(facts.verdict.message.capitalize())} {stop}{_profit_text(facts)}"
    return panel("remaining", "Is another measurement worth its price?", drawings, note, keys)


def stopping_point(facts: Facts) -> int | None:
    """The first trial before which the expected improvement was below the price twice in a row."""
    if facts.cost is None:
        return None
    gains = [gain for gain in facts.gains if gain[0] >= facts.initial]
    for (_, earlier), (trial, later) in pairwise(gains):
        if earlier < facts.cost and later < facts.cost:
            return trial
    return None


def _remaining(facts: Facts, size: Size) -> Canvas:
    canvas = Canvas(
        size[0],
        round(size[1] * 0.75),
        "Largest expected improvement over trials, logarithmic",
        left=68,
    )
    gains = [(trial, gain) for trial, gain in facts.gains if gain > 0]
    x = Scale(-0.5, max(len(facts.trials), 1) + 0.5, *canvas.across)
    y = Scale.over(
        [gain for _, gain in gains] + ([facts.cost] if facts.cost else []), canvas.up, log=True
    )
    canvas.axes(x, y, ("trial", "expected improvement"), (8 if size[0] > 500 else 5, 4))
    canvas.line([(x(trial), y(gain)) for trial, gain in gains], "gain")
    if len(gains) <= 80:
        for trial, gain in gains:
            canvas.dot(x(trial), y(gain), 2.2, "gain-dot", f"before trial {trial}: {gain:.4g}")
    if facts.cost is not None:
        canvas.segment(
            (canvas.across[0], y(facts.cost)), (canvas.across[1], y(facts.cost)), "price"
        )
        canvas.write(
            canvas.across[0] + 4, y(facts.cost) - 5, f"κ = {facts.cost:.4g}", kind="price-text"
        )
        if (where := stopping_point(facts)) is not None:
            canvas.segment((x(where), canvas.up[0]), (x(where), canvas.up[1]), "stop")
            canvas.write(x(where) - 4, canvas.up[1] + 12, f"stop at {where}", "end", "stop-text")
    return canvas


def _profits(facts: Facts) -> list[tuple[int, float, float]]:
    """(trial, profit, std): what the best setting is worth less what the measurements after the
    initial design cost.
    """
    if facts.cost is None:
        return []
    profits = []
    for each in facts.standings:
        paid = facts.cost * max(each.number - facts.initial, 0)
        profits.append((each.number, -facts.direction.flip(each.mean) - paid, each.std))
    return profits


def _profit(facts: Facts, size: Size) -> Canvas:
    canvas = Canvas(size[0], round(size[1] * 0.62), "Profit over trials", left=68)
    profits = [each for each in _profits(facts) if each[0] >= facts.initial] or _profits(facts)
    x = Scale(-0.5, max(len(facts.trials), 1) + 0.5, *canvas.across)
    y = Scale.over(
        [profit + side * std for _, profit, std in profits for side in (-1, 1)], canvas.up
    )
    canvas.axes(x, y, ("trial", "profit"), (8 if size[0] > 500 else 5, 4))
    upper = [(x(trial), y(profit + std)) for trial, profit, std in profits]
    lower = [(x(trial), y(profit - std)) for trial, profit, std in profits]
    canvas.band(upper, lower, "profit-band")
    canvas.line([(x(trial), y(profit)) for trial, profit, _ in profits], "profit")
    return canvas


def _profit_text(facts: Facts) -> str:
    trial, profit, std = _profits(facts)[-1]
    count = max(trial - facts.initial, 0)
    value = "minus the value" if facts.study.direction == "minimize" else "the value"
    return (
        f"Profit now: {profit:.5g} ± {std:.2g}, that is {value} of the best setting less κ ×"
        f" {count} measurements after the initial design."
    )


def importance(facts: Facts) -> str:
    """Bars of the shares of variance."""
    shares = facts.importance
    if shares is None:
        return ""
    names = facts.study.space.names
    height = 26 * len(names) + 40
    drawings = ""
    for width, kind in ((960, "wide"), (400, "narrow")):
        left = 150 if width > 500 else 104
        canvas = Canvas(width, height, "Importance of the parameters", left=left, bottom=30)
        x = Scale(0, 1, *canvas.across)
        for tick in x.ticks(5):
            canvas.segment((x(tick), canvas.up[0]), (x(tick), canvas.up[1]), "grid")
            canvas.write(x(tick), canvas.up[0] + 16, f"{100 * tick:.0f} %", "middle")
        for row, column in enumerate(shares.order):
            top = canvas.up[1] + 26 * row + 5
            total, alone = float(shares.total[column]), float(shares.alone[column])
            title = (
                f"<title>{text_of(names[column])}: {100 * alone:.0f} % alone, {100 * total:.0f} %"
                " in all</title>"
            )
            for share, bar in ((total, "together"), (alone, "alone")):
                size = f'width="{number(x(share) - x(0))}" height="16"'
                canvas.add(
                    f'<rect class="{bar}" x="{number(x(0))}" y="{top}" {size} rx="2">{title}</rect>'
                )
            canvas.write(left - 8, top + 12, clip(names[column], 20 if width > 500 else 13), "end")
        drawings += canvas.render(kind)
    note = (
        "Share of the variation of the fitted surface over the whole space that would be gone if"
        " the parameter were fixed (Sobol indices of the posterior mean): dark, the parameter on"
        " its own; light, together with others. A parameter that does little here can be left"
        " alone; one that matters deserves a wider or finer range."
    )
    keys = legend(("key-alone", "on its own"), ("key-together", "together with others"))
    return panel("importance", "Which parameters matter", drawings, note, keys)


def slices(facts: Facts) -> str:
    """One small drawing per parameter."""
    cards = "".join(
        "<figure"
        f' class="slice"><figcaption>{text_of(each.name, 60)}</figcaption>'
        f"{_slice(each, facts)}</figure>"
        for each in facts.slices
    )
    note = (
        "Each picture moves one parameter and keeps the others at the best setting (dashed line)."
        " Above: what the model believes, mean ± std, with the measurements, faint where they were"
        " made far away. Below: corrected expected improvement, where the next measurement promises"
        " most. Most important first."
    )
    keys = legend(("key-incumbent", "posterior mean ± std"), ("key-gain", "corrected EI"))
    return panel(
        "slices",
        "Around the best setting",
        f'<div class="grid-of-slices">{cards}</div>',
        note,
        keys,
    )


def _slice(each: Slice, facts: Facts) -> str:
    canvas = Canvas(330, 250, f"Slice along {each.name}", left=50, bottom=98)
    x = Scale(0.0, 1.0, *canvas.across)
    y = Scale.over([*(each.mean - each.std), *(each.mean + each.std)], canvas.up)
    places = [x(each.dimension.to_unit(value)) for value in each.values]
    canvas.y_axis(y, count=4)
    best = facts.best
    chosen = None if best is None else each.dimension.to_unit(best.params[each.name])
    _slice_measurements(canvas, each, facts, (x, y))
    upper = [(at, y(mean + std)) for at, mean, std in zip(places, each.mean, each.std, strict=True)]
    lower = [(at, y(mean - std)) for at, mean, std in zip(places, each.mean, each.std, strict=True)]
    if each.dimension.is_ordered:
        canvas.band(upper, lower, "band")
        canvas.line(
            [(at, y(float(mean))) for at, mean in zip(places, each.mean, strict=True)], "incumbent"
        )
    else:
        for (at, top), (_, bottom), mean in zip(upper, lower, each.mean, strict=True):
            canvas.segment((at, top), (at, bottom), "whisker")
            canvas.dot(at, y(float(mean)), 4, "level", f"{mean:.5g}")
    if chosen is not None:
        canvas.segment((x(chosen), canvas.up[1]), (x(chosen), canvas.height - 34), "chosen")
    _slice_gain(canvas, each, places)
    return canvas.render()


def _slice_measurements(
    canvas: Canvas, each: Slice, facts: Facts, scales: tuple[Scale, Scale]
) -> None:
    if facts.best is None:
        return
    x, y = scales
    space = facts.study.space
    column = space.names.index(each.name)
    centre = space.to_unit(facts.best.params)
    measured = [trial for trial in facts.trials if trial.measurements]
    gaps = np.array([facts.coordinates[trial.number] for trial in measured]) - centre
    gaps[:, column] = 0.0
    distances = np.sqrt(np.mean(gaps**2, axis=1))
    for index in np.argsort(distances, kind="stable")[:_MOST_DOTS]:
        trial, far = measured[index], distances[index]
        kind = "near" if far < 0.1 else "middle" if far < 0.25 else "far"
        for measurement in trial.measurements:
            if y.has(measurement.value):
                at = x(each.dimension.to_unit(trial.params[each.name]))
                canvas.dot(at, y(measurement.value), 2.4, kind)


def _slice_gain(canvas: Canvas, each: Slice, places: list[float]) -> None:
    top, bottom = canvas.height - 84, canvas.height - 34
    most = float(np.max(each.gain)) if len(each.gain) else 0.0
    height = Scale(0.0, most if most > 0 else 1.0, bottom, top)
    canvas.segment((canvas.across[0], bottom), (canvas.across[1], bottom), "grid")
    canvas.write(canvas.left - 6, top + 8, f"{most:.2g}", "end")
    canvas.write(canvas.left - 6, bottom + 3, "0", "end")
    tops = [(at, height(float(gain))) for at, gain in zip(places, each.gain, strict=True)]
    if each.dimension.is_ordered:
        canvas.band(tops, [(at, bottom) for at, _ in tops], "gain-area")
        canvas.line(tops, "gain")
    else:
        for at, high in tops:
            size = f'width="12" height="{number(bottom - high)}"'
            canvas.add(f'<rect class="gain-area" x="{number(at - 6)}" y="{number(high)}" {size}/>')
    x = Scale(0.0, 1.0, *canvas.across)
    for place, label in labels_of(each.dimension, 4):
        canvas.write(x(place), canvas.height - 18, label, "middle")


def _steps(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """A line that moves across before it moves up or down."""
    stepped: list[tuple[float, float]] = []
    for x, y in points:
        if stepped:
            stepped.append((x, stepped[-1][1]))
        stepped.append((x, y))
    return stepped


def _triangle(x: float, y: float, up: bool, title: str) -> str:
    tip = -4 if up else 4
    path = (
        f"{number(x)},{number(y + tip)} {number(x - 4)},{number(y - tip)}"
        f" {number(x + 4)},{number(y - tip)}"
    )
    return f'<polygon class="outside" points="{path}"><title>{text_of(title)}</title></polygon>'


def _cross(x: float, y: float, title: str) -> str:
    left, right, top, bottom = (number(value) for value in (x - 3, x + 3, y - 3, y + 3))
    lines = f"M{left} {top}L{right} {bottom}M{left} {bottom}L{right} {top}"
    return f'<path class="failed" d="{lines}"><title>{text_of(title)}</title></path>'


def trial_source(facts: Facts, trial: Trial) -> str:
    """How a trial came about."""
    record = facts.sources.get(trial.number) or {}
    return str(record.get("source", "asked"))
