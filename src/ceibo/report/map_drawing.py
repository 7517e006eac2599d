"""A function over two parameters as a drawing: colours, isolines, measurements, a key."""

from collections.abc import Callable, Iterable
from typing import Final

import numpy as np
from scipy.special import ndtri

from ceibo.decide import Direction, Space
from ceibo.gp.inputs import Array, Mask
from ceibo.numbers import distinct, rounded
from ceibo.report.axes import make_room_for, x_labels
from ceibo.report.contour import colour_table, hatching, isolines, png
from ceibo.report.facts import Aspect, Map
from ceibo.report.history import cross
from ceibo.report.labels import MOST_LETTERS, width_of
from ceibo.report.parts import Size, labels_below, parameter_labels
from ceibo.report.svg import Canvas, Scale, path_of, px
from ceibo.report.ternary import Ternary
from ceibo.report.thinning import mean_value, visible
from ceibo.text import shorten, shorten_apart

# From good to bad: dark blue over green to pale yellow, told apart in grey and by the colour-blind.
COLOURS: Final = colour_table(
    [(36, 40, 110), (38, 98, 138), (46, 150, 136), (126, 196, 116), (246, 230, 140)]
)
_LINES: Final = 7
_LARGE: Final = 1e300
_FAINTEST: Final = 1e-12  # chances nearer to 0 or 1 are drawn as this
_FAR: Final = 0.25  # distance in the unit cube from which a measurement is faint
_SMALL: Final = 10.0  # pixels of a letter beside an isoline


def map_sizes(draw: Callable[[Size], Canvas]) -> str:
    """A map for large screens and one for small screens, of which the page shows one."""
    return draw((640, 460)).render("wide medium") + draw((400, 340)).render("narrow")


def draw_map(surface: Map, space: Space, aspect: Aspect, size: Size) -> Canvas:
    """The posterior mean, the measurements and the best setting."""
    first, second = surface.names
    what = "the posterior mean" if aspect.name == "objective" else aspect.name
    canvas = map_canvas(size, f"Map of {what} over {first} and {second}")
    make_room(canvas, surface, space)
    smooth = is_smooth(surface, space)
    draw_mean(canvas, surface, aspect.direction, smooth)
    if surface.chance is not None:
        draw_doubt(canvas, surface, smooth)
    draw_excluded(canvas, surface)
    draw_places(canvas, surface, space, aspect)
    draw_key(canvas, COLOURS, *ends_of(surface, aspect.direction))
    return canvas


def draw_mean(canvas: Canvas, surface: Map | Ternary, direction: Direction, smooth: bool) -> None:
    """The posterior mean in colours, and its isolines where it is smooth."""
    # in units in which differences of the largest doubles are finite
    unit = 0.25 if np.max(np.abs(surface.mean)) > _LARGE else 1.0
    mean, seen = surface.mean * unit, surface.seen * unit
    low, high = float(np.min(seen)), float(np.max(seen))
    shares = np.zeros_like(mean)
    if high > low:
        shares = (mean - low) / (high - low)
    if direction is Direction.MAXIMIZE:
        shares = 1.0 - shares
    draw_colours(canvas, shares, smooth, COLOURS)
    if high > low and smooth:
        levels = np.linspace(low, high, _LINES + 2)[1:-1].tolist()
        draw_isolines(canvas, mean, levels)
        # in a triangle the numbers of trials have that room
        if unit == 1.0 and isinstance(surface, Map):
            label_isolines(canvas, mean, levels, surface.held)


def ends_of(surface: Map | Ternary, direction: Direction) -> tuple[float, float]:
    """The best and the worst value shown."""
    best, worst = float(np.min(surface.seen)), float(np.max(surface.seen))
    return (worst, best) if direction is Direction.MAXIMIZE else (best, worst)


def draw_excluded(canvas: Canvas, surface: Map) -> None:
    """Covers what rules exclude."""
    if surface.excluded is None or not np.any(surface.excluded):
        return
    rows, columns = surface.excluded.shape
    x, y = Scale(0, columns, *canvas.across), Scale(0, rows, *canvas.up)
    parts = []
    for row, cells in enumerate(surface.excluded):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], cells.astype(int), [0]])))
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            box = f"M{px(x(first))} {px(y(row))}H{px(x(last))}V{px(y(row + 1))}H{px(x(first))}Z"
            parts.append(box)
    canvas.add(f'<path class="excluded" d="{"".join(parts)}"/>')


def make_room(canvas: Canvas, surface: Map, space: Space) -> None:
    """Moves the frame of a map to where its labels leave room for it."""
    first, second = (space.dimensions[name] for name in surface.names)
    texts = shorten_apart([text for _, text in parameter_labels(second)], MOST_LETTERS)
    make_room_for(canvas, texts, surface.names[1])
    canvas.bottom += round(labels_below(first, canvas.across, 5)[1])


def map_canvas(size: Size, label: str) -> Canvas:
    """An empty map, with room for the key."""
    return Canvas(*size, label, left=70, right=84, bottom=40)


def is_smooth(surface: Map, space: Space) -> bool:
    """Whether there is something between the points of the grid: neither parameter is a choice."""
    return all(space.dimensions[name].is_ordered for name in surface.names)


def draw_places(canvas: Canvas, surface: Map, space: Space, aspect: Aspect) -> None:
    """The measurements, the best setting, and the axes."""
    first, second = surface.names
    x, y = Scale(0.0, 1.0, *canvas.across), Scale(0.0, 1.0, *canvas.up)
    across, up = surface.columns
    places = aspect.places
    measured = np.flatnonzero(np.isfinite(places[:, across] + places[:, up]))
    far = is_elsewhere(places, aspect.best_place, space, surface.columns)
    for index in measured[visible(places[measured, across], places[measured, up])]:
        trial, place = aspect.measured[index], places[index]
        title = f"trial {trial.number}: {rounded(mean_value(trial))}"
        kind = "visited elsewhere" if far[index] else "visited"
        canvas.dot(x(place[across]), y(place[up]), 2.6, kind, title)
    for number, place in aspect.failed:
        if np.isfinite(place[across] + place[up]):
            title = f"trial {number} failed"
            canvas.add(cross(x(place[across]), y(place[up]), title))
    canvas.add(star(x(aspect.best_place[across]), y(aspect.best_place[up])))
    dimensions = space.dimensions
    labels, extra = labels_below(dimensions[first], canvas.across, 5)
    x_labels(canvas, labels, canvas.up[0] + 4, turned=extra > 0)
    marks = parameter_labels(dimensions[second])
    texts = shorten_apart([text for _, text in marks], MOST_LETTERS)
    for (at, _), text in zip(marks, texts, strict=True):
        canvas.write(canvas.left - 6, y(at) + 4, text, "end")
    canvas.x_name(shorten(first, 40))
    canvas.y_name(shorten(second, 40))


def is_elsewhere(places: Array, best: Array, space: Space, columns: tuple[int, int]) -> Mask:
    """Whether each place (n, d) is far from the map: another choice, or far in what it holds."""
    # what exists in one of two settings only is as far as can be
    gaps = np.nan_to_num(np.abs(places - best), nan=1.0)
    choices = list(space.categorical)
    gaps[:, choices] = gaps[:, choices] > 0
    gaps[:, columns] = 0.0
    return np.asarray(np.max(gaps, axis=1, initial=0.0) > _FAR)


def draw_colours(canvas: Canvas, shares: Array, smooth: bool, colours: Array) -> None:
    """Shares in [0, 1] as colours: cells where a parameter has no order."""
    picture = np.flipud(shares)
    left, right = canvas.across
    bottom, top = canvas.up
    box = (left, top), (right - left, bottom - top)
    if smooth:
        canvas.image(*box, "smooth", png(_finer(picture), colours))
    else:
        canvas.image(*box, "cells", png(picture, colours))


def draw_isolines(canvas: Canvas, Z: Array, levels: Iterable[float], kind: str = "isoline") -> None:
    """Lines along which a function on the grid has the given values."""
    rows, columns = Z.shape
    x, y = Scale(0, columns - 1, *canvas.across), Scale(0, rows - 1, *canvas.up)
    parts = []
    for level in levels:
        for (x0, y0), (x1, y1) in isolines(Z, float(level)):
            parts.append(f"M{px(x(x0))} {px(y(y0))}L{px(x(x1))} {px(y(y1))}")
    canvas.add(f'<path class="{kind}" d="{"".join(parts)}"/>')


def label_isolines(canvas: Canvas, Z: Array, levels: list[float], held: Mask | None) -> None:
    """The value of each line, where it is far from the other labels, if there is room."""
    rows, columns = Z.shape
    x, y = Scale(0, columns - 1, *canvas.across), Scale(0, rows - 1, *canvas.up)
    left, top, right, bottom = canvas.frame
    placed: list[tuple[float, float]] = []
    for level, text in zip(levels, distinct(levels), strict=True):
        half = width_of(text, _SMALL) / 2 + 2
        middles = [((a + c) / 2, (b + d) / 2) for (a, b), (c, d) in isolines(Z, level)]
        spots = [(x(a), y(b)) for a, b in middles if held is None or held[round(b), round(a)]]
        spots = [
            (at, height)
            for at, height in spots
            if left + half < at < right - half and top + 10 < height < bottom - 10
        ]
        if not spots:
            continue
        # distances in units of a label's box
        gaps = [
            min((max(abs(at - a) / (2 * half), abs(h - b) / 14) for a, b in placed), default=9.0)
            for at, h in spots
        ]
        best = int(np.argmax(gaps))
        if gaps[best] > 1.2:
            placed.append(spots[best])
            at, height = spots[best]
            place = f'x="{px(at)}" y="{px(height + 3.5)}" text-anchor="middle"'
            canvas.add(f'<text class="isoline-text" {place}>{text}</text>')


def normal_quantile(chance: Array) -> Array:
    """What a standard normal variable is below with these chances; finite at 0 and 1."""
    return np.asarray(ndtri(np.clip(chance, _FAINTEST, 1.0 - _FAINTEST)))


def draw_doubt(canvas: Canvas, surface: Map | Ternary, smooth: bool) -> None:
    """Hatches where limits hold with less than the confidence, and draws its border."""
    if surface.chance is None:
        return
    # between two points of the grid a chance jumps, and its normal quantile hardly bends
    chance, confidence = normal_quantile(surface.chance), float(ndtri(surface.confidence))
    parts = []
    for (x0, y0), (x1, y1) in hatching(chance, confidence, canvas.across, canvas.up, smooth):
        parts.append(f"M{px(x0)} {px(y0)}L{px(x1)} {px(y1)}")
    if parts:
        canvas.add(f'<path class="hatch" d="{"".join(parts)}"/>')
    if smooth:
        draw_isolines(canvas, chance, [confidence], "border")


def draw_key(canvas: Canvas, colours: Array, best: float, worst: float, gap: float = 12) -> None:
    """The scale of colours, larger values above smaller, so many pixels beside the frame."""
    left = canvas.across[1] + gap
    bottom, top = canvas.up
    upward = np.linspace(0, 1, 64) if best > worst else np.linspace(1, 0, 64)
    canvas.image((left, top), (12, bottom - top), "smooth", png(upward[:, None], colours))
    if best == worst:
        canvas.write(left + 16, (top + bottom) / 2 + 4, rounded(best, 4))
        return
    low, high = min(best, worst), max(best, worst)
    ends = [low + (high / 4 - low / 4) * quarter for quarter in range(5)]
    for quarter, text in enumerate(distinct(ends)):
        height = bottom - (bottom - top) * quarter / 4
        canvas.write(left + 16, min(max(height + 4, top + 9), bottom), text)


def _finer(shares: Array, factor: int = 4) -> Array:
    """The same grid, interpolated, so that no viewer shows its cells."""
    rows, columns = shares.shape
    fine_columns = np.linspace(0, columns - 1, columns * factor)
    fine_rows = np.linspace(0, rows - 1, rows * factor)
    wide = np.stack([np.interp(fine_columns, np.arange(columns), row) for row in shares])
    return np.stack([np.interp(fine_rows, np.arange(rows), column) for column in wide.T], axis=1)


def star(x: float, y: float) -> str:
    """The mark of the answer."""
    corners = []
    for k in range(10):
        angle = np.pi / 5 * k - np.pi / 2
        radius = 9 if k % 2 == 0 else 4
        corners.append((x + radius * np.cos(angle), y + radius * np.sin(angle)))
    return f'<polygon class="star" points="{path_of(corners)}"/>'
