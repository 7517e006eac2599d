"""The posterior mean over the two most important parameters, in colour, with isolines."""

import numpy as np

from ceibo.decide import Direction
from ceibo.gp.inputs import Array
from ceibo.report.contour import colour_table, isolines, png
from ceibo.report.facts import Facts, Findings, Map
from ceibo.report.parts import Size, panel, parameter_labels
from ceibo.report.svg import Canvas, Scale, path_of, px
from ceibo.report.thinning import visible
from ceibo.text import shorten

# From good to bad: dark blue over green to pale yellow, told apart in grey and by the colour-blind.
_COLOURS = colour_table(
    [(36, 40, 110), (38, 98, 138), (46, 150, 136), (126, 196, 116), (246, 230, 140)]
)
_LINES = 7
_LARGE = 1e300


def map_(facts: Facts) -> str:
    """The panel of the map; empty with one parameter and before the first measurement."""
    findings = facts.findings
    if findings is None or findings.map is None:
        return ""
    first, second = findings.map.names
    drawings = _draw(facts, findings, findings.map, (640, 460)).render("wide medium")
    drawings += _draw(facts, findings, findings.map, (400, 340)).render("narrow")
    note = (
        "The posterior mean over the two most important parameters, the others at the best setting."
        " Dark is better. Dots are measurements, the star is the best setting."
    )
    title = f"{shorten(first, 40)} and {shorten(second, 40)} together"
    return panel("map", title, drawings, note)


def _draw(facts: Facts, findings: Findings, surface: Map, size: Size) -> Canvas:
    first, second = surface.names
    label = f"Map of the posterior mean over {first} and {second}"
    canvas = Canvas(*size, label, left=70, right=78, bottom=40)
    _draw_surface(canvas, facts, surface)
    x, y = Scale(0.0, 1.0, *canvas.across), Scale(0.0, 1.0, *canvas.up)
    across, up = surface.columns
    places = findings.places
    for index in visible(places[:, across], places[:, up]):
        trial, place = facts.measured[index], places[index]
        title = f"trial {trial.number}: {trial.measurements[-1].value:.5g}"
        canvas.dot(x(place[across]), y(place[up]), 2.6, "visited", title)
    canvas.add(_star(x(findings.best_place[across]), y(findings.best_place[up])))
    dimensions = facts.study.space.dimensions
    for at, text in parameter_labels(dimensions[first]):
        canvas.write(x(at), canvas.up[0] + 16, text, "middle")
    for at, text in parameter_labels(dimensions[second]):
        canvas.write(canvas.left - 6, y(at) + 4, shorten(text, 9), "end")
    canvas.x_name(shorten(first, 40))
    canvas.y_name(shorten(second, 40))
    _draw_key(canvas, surface, facts.direction)
    return canvas


def _draw_surface(canvas: Canvas, facts: Facts, surface: Map) -> None:
    """The colours: cells where a parameter has no order, smooth with isolines elsewhere."""
    # in units in which differences of the largest doubles are finite
    mean = surface.mean * (0.25 if np.max(np.abs(surface.mean)) > _LARGE else 1.0)
    low, high = float(np.min(mean)), float(np.max(mean))
    shares = np.zeros_like(mean)
    if high > low:
        shares = (mean - low) / (high - low)
    if facts.direction is Direction.MAXIMIZE:
        shares = 1.0 - shares
    dimensions = facts.study.space.dimensions
    ordered = all(dimensions[name].is_ordered for name in surface.names)
    picture = np.flipud(shares)
    left, right = canvas.across
    bottom, top = canvas.up
    box = (left, top), (right - left, bottom - top)
    if not ordered:
        canvas.image(*box, "cells", png(picture, _COLOURS))
        return
    canvas.image(*box, "smooth", png(_finer(picture), _COLOURS))
    if high > low:
        _draw_isolines(canvas, mean, np.linspace(low, high, _LINES + 2)[1:-1])


def _draw_isolines(canvas: Canvas, Z: Array, levels: Array) -> None:
    rows, columns = Z.shape
    x, y = Scale(0, columns - 1, *canvas.across), Scale(0, rows - 1, *canvas.up)
    parts = []
    for level in levels:
        for (x0, y0), (x1, y1) in isolines(Z, float(level)):
            parts.append(f"M{px(x(x0))} {px(y(y0))}L{px(x(x1))} {px(y(y1))}")
    canvas.add(f'<path class="isoline" d="{"".join(parts)}"/>')


def _draw_key(canvas: Canvas, surface: Map, direction: Direction) -> None:
    """The scale of colours, best at the bottom."""
    left = canvas.across[1] + 12
    bottom, top = canvas.up
    column = np.linspace(1, 0, 64)[:, None]
    canvas.image((left, top), (12, bottom - top), "smooth", png(column, _COLOURS))
    best, worst = float(np.min(surface.mean)), float(np.max(surface.mean))
    if direction is Direction.MAXIMIZE:
        best, worst = worst, best
    canvas.write(left + 16, bottom, f"{best:.3g}")
    canvas.write(left + 16, (top + bottom) / 2 + 4, f"{(best / 2 + worst / 2):.3g}")
    canvas.write(left + 16, top + 9, f"{worst:.3g}")


def _finer(shares: Array, factor: int = 4) -> Array:
    """The same grid, interpolated, so that no viewer shows its cells."""
    rows, columns = shares.shape
    fine_columns = np.linspace(0, columns - 1, columns * factor)
    fine_rows = np.linspace(0, rows - 1, rows * factor)
    wide = np.stack([np.interp(fine_columns, np.arange(columns), row) for row in shares])
    return np.stack([np.interp(fine_rows, np.arange(rows), column) for column in wide.T], axis=1)


def _star(x: float, y: float) -> str:
    corners = []
    for k in range(10):
        angle = np.pi / 5 * k - np.pi / 2
        radius = 9 if k % 2 == 0 else 4
        corners.append((x + radius * np.cos(angle), y + radius * np.sin(angle)))
    return f'<polygon class="star" points="{path_of(corners)}"/>'
