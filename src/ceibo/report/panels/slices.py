"""The posterior and the expected improvement along each parameter, through the best setting."""

from collections.abc import Iterable

import numpy as np

from ceibo.report.facts import Facts, Findings, Slice
from ceibo.report.parts import legend, panel, parameter_labels
from ceibo.report.svg import Canvas, Point, Scale, px, text_of

_MOST_DOTS = 250  # trials shown in a slice, nearest first
# limits of distances in the unit cube that are shown differently
_NEAR, _FAR = 0.1, 0.25


def slices(facts: Facts) -> str:
    """The panel of slices, one small drawing per parameter; empty before the first measurement."""
    if facts.findings is None:
        return ""
    figures = []
    for each in facts.findings.slices:
        caption = f"<figcaption>{text_of(each.name, 60)}</figcaption>"
        drawing = _draw(each, facts, facts.findings)
        figures.append(f'<figure class="slice">{caption}{drawing}</figure>')
    body = f'<div class="grid-of-slices">{"".join(figures)}</div>'
    note = (
        "Each picture moves one parameter and keeps the others at the best setting (dashed line)."
        " Above: what the model believes, mean ± std, with the measurements, faint where they were"
        " made far away. Below: corrected expected improvement, where the next measurement promises"
        " most. Most important first."
    )
    keys = legend(("key-incumbent", "posterior mean ± std"), ("key-gain", "corrected EI"))
    return panel("slices", "Around the best setting", body, note, keys)


def _draw(each: Slice, facts: Facts, findings: Findings) -> str:
    canvas = Canvas(330, 250, f"Slice along {each.name}", left=50, bottom=98)
    x = Scale(0.0, 1.0, *canvas.across)
    low, high = each.band
    y = Scale.over([*low, *high], canvas.up)
    canvas.y_axis(y, count=4)
    _draw_measurements(canvas, each, facts, findings, (x, y))
    upper = _curve(each, high, x, y)
    middle = _curve(each, each.mean, x, y)
    lower = _curve(each, low, x, y)
    if each.dimension.is_ordered:
        canvas.band(upper, lower, "band")
        canvas.line(middle, "incumbent")
    else:
        for index, mean in enumerate(each.mean):
            canvas.segment(upper[index], lower[index], "whisker")
            canvas.dot(*middle[index], 4, "level", f"{mean:.5g}")
    chosen = x(float(findings.best_place[each.column]))
    canvas.segment((chosen, canvas.up[1]), (chosen, canvas.height - 34), "chosen")
    _draw_gain(canvas, each, x)
    for place, label in parameter_labels(each.dimension, 4):
        canvas.write(x(place), canvas.height - 18, label, "middle")
    return canvas.render()


def _curve(each: Slice, values: Iterable[float], x: Scale, y: Scale) -> list[Point]:
    """Pixels of a function along the parameter."""
    return [(x(place), y(float(value))) for place, value in zip(each.places, values, strict=True)]


def _draw_measurements(
    canvas: Canvas, each: Slice, facts: Facts, findings: Findings, scales: tuple[Scale, Scale]
) -> None:
    """The measurements, the fainter the farther away they were made in the other parameters."""
    x, y = scales
    gaps = findings.places - findings.best_place
    gaps[:, each.column] = 0.0
    distances = np.sqrt(np.mean(gaps**2, axis=1))
    for index in np.argsort(distances, kind="stable")[:_MOST_DOTS]:
        at = x(float(findings.places[index, each.column]))
        kind = ("near", "middle", "far")[np.digitize(distances[index], (_NEAR, _FAR))]
        for measurement in facts.measured[index].measurements:
            if y.has(measurement.value):
                canvas.dot(at, y(measurement.value), 2.4, kind)


def _draw_gain(canvas: Canvas, each: Slice, x: Scale) -> None:
    """Corrected EI, below the posterior."""
    top, bottom = canvas.height - 84, canvas.height - 34
    most = float(np.max(each.gain))
    y = Scale(0.0, most if most > 0 else 1.0, bottom, top)
    canvas.segment((canvas.across[0], bottom), (canvas.across[1], bottom), "grid")
    canvas.write(canvas.left - 6, top + 8, f"{most:.2g}", "end")
    canvas.write(canvas.left - 6, bottom + 3, "0", "end")
    tops = _curve(each, each.gain, x, y)
    if each.dimension.is_ordered:
        canvas.band(tops, [(at, bottom) for at, _ in tops], "gain-area")
        canvas.line(tops, "gain")
        return
    for at, high in tops:
        size = f'width="12" height="{px(bottom - high)}"'
        canvas.add(f'<rect class="gain-area" x="{px(at - 6)}" y="{px(high)}" {size}/>')
