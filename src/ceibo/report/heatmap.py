"""The map of the two most important parameters: posterior mean in colour, with isolines and the
measurements.
"""

import numpy as np

from ceibo.decide import Direction
from ceibo.decide.space import Params
from ceibo.gp.inputs import Array
from ceibo.report.contour import colour_table, isolines, png
from ceibo.report.facts import Facts, Map
from ceibo.report.parts import clip, labels_of, panel
from ceibo.report.svg import Canvas, Scale, number, text_of

# From good to bad: dark blue over green to pale yellow, told apart in grey and by the colour-blind.
_COLOURS = colour_table(
    [(36, 40, 110), (38, 98, 138), (46, 150, 136), (126, 196, 116), (246, 230, 140)]
)
_LINES = 7


def heatmap(facts: Facts) -> str:
    """The panel; a sentence where there is only one parameter."""
    if facts.map is None:
        return ""
    first, second = facts.map.names
    drawings = _draw(facts, facts.map, (640, 460)).render("wide medium")
    drawings += _draw(facts, facts.map, (400, 340)).render("narrow")
    note = (
        "The posterior mean over the two most important parameters, the others at the best setting."
        " Dark is better. Dots are measurements, the star is the best setting."
    )
    return panel("map", f"{clip(first, 40)} and {clip(second, 40)} together", drawings, note)


def _draw(facts: Facts, surface: Map, size: tuple[int, int]) -> Canvas:
    first, second = surface.names
    canvas = Canvas(
        *size, f"Map of the posterior mean over {first} and {second}", left=70, right=78, bottom=40
    )
    dimensions = facts.study.space.dimensions
    x, y = Scale(0.0, 1.0, *canvas.across), Scale(0.0, 1.0, *canvas.up)
    low, high = float(np.min(surface.mean)), float(np.max(surface.mean))
    spread = high - low
    shares = (surface.mean - low) / spread if spread > 0 else np.zeros_like(surface.mean)
    if facts.direction is Direction.MAXIMIZE:
        shares = 1.0 - shares
    left, top, right, bottom = canvas.across[0], canvas.up[1], canvas.across[1], canvas.up[0]
    box = (
        f'x="{number(left)}" y="{number(top)}" width="{number(right - left)}"'
        f' height="{number(bottom - top)}"'
    )
    listed = not all(dimensions[name].is_ordered for name in surface.names)
    kind = "cells" if listed else "smooth"
    picture = png(np.flipud(shares) if listed else _finer(np.flipud(shares)), _COLOURS)
    canvas.add(f'<image class="{kind}" {box} preserveAspectRatio="none" href="{picture}"/>')
    if not listed and spread > 0:
        _isolines(canvas, surface.mean, (low, high))
    _dots(canvas, facts, surface, (x, y))
    for place, label in labels_of(dimensions[first]):
        canvas.write(x(place), canvas.up[0] + 16, label, "middle")
    for place, label in labels_of(dimensions[second]):
        canvas.write(canvas.left - 6, y(place) + 4, clip(label, 9), "end")
    canvas.x_name(clip(first, 40))
    canvas.add(
        '<text class="name" text-anchor="middle" transform="translate(12'
        f' {number((top + bottom) / 2)}) rotate(-90)">{text_of(second, 40)}</text>'
    )
    _key(canvas, low, high, facts.direction is Direction.MAXIMIZE)
    return canvas


def _isolines(canvas: Canvas, Z: Array, ends: tuple[float, float]) -> None:
    rows, columns = Z.shape
    left, right = canvas.across
    bottom, top = canvas.up
    parts = []
    for level in np.linspace(*ends, _LINES + 2)[1:-1]:
        for (x0, y0), (x1, y1) in isolines(Z, float(level)):
            places = [left + column / (columns - 1) * (right - left) for column in (x0, x1)]
            heights = [bottom + row / (rows - 1) * (top - bottom) for row in (y0, y1)]
            parts.append(
                f"M{number(places[0])} {number(heights[0])}L{number(places[1])}"
                f" {number(heights[1])}"
            )
    canvas.add(f'<path class="isoline" d="{"".join(parts)}"/>')


def _dots(canvas: Canvas, facts: Facts, surface: Map, scales: tuple[Scale, Scale]) -> None:
    first, second = surface.names
    dimensions = facts.study.space.dimensions

    def pixel(params: Params) -> tuple[float, float]:
        x, y = (dimensions[name].to_unit(params[name]) for name in (first, second))
        return scales[0](x), scales[1](y)

    for trial in facts.trials:
        if trial.measurements:
            value = trial.measurements[-1].value
            canvas.dot(*pixel(trial.params), 2.6, "visited", f"trial {trial.number}: {value:.5g}")
    if facts.best is not None:
        canvas.add(_star(*pixel(facts.best.params)))


def _key(canvas: Canvas, low: float, high: float, flipped: bool) -> None:
    """The scale of colours, best at the bottom."""
    left, (bottom, top) = canvas.across[1] + 12, canvas.up
    column = np.linspace(1, 0, 64)[:, None]
    box = f'x="{number(left)}" y="{number(top)}" width="12" height="{number(bottom - top)}"'
    picture = png(column, _COLOURS)
    canvas.add(f'<image class="smooth" {box} preserveAspectRatio="none" href="{picture}"/>')
    ends = (high, low) if flipped else (low, high)
    canvas.write(left + 16, bottom, f"{ends[0]:.3g}")
    canvas.write(left + 16, (top + bottom) / 2 + 4, f"{(low / 2 + high / 2):.3g}")
    canvas.write(left + 16, top + 9, f"{ends[1]:.3g}")


def _finer(shares: Array, factor: int = 4) -> Array:
    """The same grid, interpolated, so that no viewer shows its cells."""
    rows, columns = shares.shape
    fine_columns = np.linspace(0, columns - 1, columns * factor)
    fine_rows = np.linspace(0, rows - 1, rows * factor)
    wide = np.stack([np.interp(fine_columns, np.arange(columns), row) for row in shares])
    return np.stack([np.interp(fine_rows, np.arange(rows), column) for column in wide.T], axis=1)


def _star(x: float, y: float) -> str:
    angles = [np.pi / 5 * k - np.pi / 2 for k in range(10)]
    radii = [9 if k % 2 == 0 else 4 for k in range(10)]
    points = [
        f"{number(x + r * np.cos(a))},{number(y + r * np.sin(a))}"
        for a, r in zip(angles, radii, strict=True)
    ]
    return f'<polygon class="star" points="{" ".join(points)}"/>'
