"""A function over three parts of a mixture as a triangle, with isolines, measurements, a key."""

from collections.abc import Callable
from typing import Final

import numpy as np
from scipy.special import ndtri

from ceibo.decide.dimensions.axis import round_values
from ceibo.gp.inputs import Array
from ceibo.numbers import distinct, rounded
from ceibo.report.facts import Aspect
from ceibo.report.labels import HEIGHT, width_of
from ceibo.report.map_drawing import (
    COLOURS,
    draw_colours,
    draw_doubt,
    draw_isolines,
    draw_key,
    draw_mean,
    ends_of,
    normal_quantile,
    star,
)
from ceibo.report.parts import Size
from ceibo.report.svg import Canvas, Point, Scale, path_of
from ceibo.report.ternary import Ternary
from ceibo.report.thinning import mean_value, visible
from ceibo.text import shorten

_MOST_NUMBERED: Final = 60  # measurements with the number of their trial beside them
_HEIGHT: Final = np.sqrt(3) / 2  # of a triangle with sides of length 1
_TICK: Final = 5.0  # pixels
# (across, up) of the corners: all of the first part, of the second, of the third
_CORNERS: Final = ((0.5, 1.0), (0.0, 0.0), (1.0, 0.0))
# limits of distances of the other coordinates that are shown differently
_NEAR: Final = 0.1
_FAR: Final = 0.25


def ternary_sizes(draw: Callable[[Size], Canvas]) -> str:
    """A triangle for large screens and one for small screens, of which the page shows one."""
    return draw((640, 500)).render("wide medium") + draw((400, 304)).render("narrow")


def draw_ternary(found: Ternary, aspect: Aspect, identifier: str, size: Size) -> Canvas:
    """The posterior mean, hatched where limits may not hold, the measurements and the answer."""
    what = "the posterior mean" if aspect.name == "objective" else aspect.name
    canvas = _canvas(found, f"Triangle of {what}", size)

    def inner() -> None:
        draw_mean(canvas, found, aspect.direction, smooth=True)
        draw_doubt(canvas, found, smooth=True)

    _draw_inside(canvas, found, inner, identifier)
    _draw_frame(canvas, found)
    _draw_places(canvas, found, aspect)
    draw_key(canvas, COLOURS, *ends_of(found, aspect.direction), gap=44)
    return canvas


def draw_ternary_chance(
    found: Ternary, aspect: Aspect, colours: Array, identifier: str, size: Size
) -> Canvas:
    """The chance that limits hold, with the lines of the confidence and of one half."""
    canvas = _canvas(found, "Triangle of the probability that limits hold", size)

    def inner() -> None:
        draw_colours(canvas, 1.0 - found.mean, smooth=True, colours=colours)
        quantile = normal_quantile(found.mean)
        draw_isolines(canvas, quantile, [0.0], "even")
        draw_isolines(canvas, quantile, [float(ndtri(found.confidence))], "border")

    _draw_inside(canvas, found, inner, identifier)
    _draw_frame(canvas, found)
    _draw_places(canvas, found, aspect)
    draw_key(canvas, colours, 1.0, 0.0, gap=44)
    return canvas


def _canvas(found: Ternary, label: str, size: Size) -> Canvas:
    """An empty drawing whose frame is the box around the triangle."""
    first, second, third = found.names
    width, height = size
    side = min(width - 150.0, (height - 90.0) / _HEIGHT)
    left = 44.0 + (width - 150.0 - side) / 2
    bottom = height - 36.0 - side * _HEIGHT
    return Canvas(
        *size,
        f"{label} over {first}, {second} and {third}",
        left=left,
        right=width - left - side,
        top=36.0,
        bottom=bottom,
    )


def _pixel(canvas: Canvas, across: float, up: float) -> Point:
    x, y = Scale(0.0, 1.0, *canvas.across), Scale(0.0, 1.0, *canvas.up)
    return x(across), y(up)


def _draw_inside(canvas: Canvas, found: Ternary, draw: Callable[[], None], identifier: str) -> None:
    """Draws within the pieces where rules hold, on the grey of the rest."""
    corners = [_pixel(canvas, *corner) for corner in _CORNERS]
    canvas.add(f'<polygon class="excluded" points="{path_of(corners)}"/>')
    shapes = []
    for piece in found.simplex.pieces:
        across, up = found.simplex.picture(piece)
        points = [_pixel(canvas, float(x), float(y)) for x, y in zip(across, up, strict=True)]
        shapes.append(f'<polygon points="{path_of(points)}"/>')
    name = f"{identifier}-{canvas.width}"
    canvas.add(f'<clipPath id="{name}">{"".join(shapes)}</clipPath>')
    canvas.add(f'<g clip-path="url(#{name})">')
    draw()
    canvas.add("</g>")


def _draw_frame(canvas: Canvas, found: Ternary) -> None:
    """The triangle, its corners' names, and the amounts of each part along a side."""
    corners = [_pixel(canvas, *corner) for corner in _CORNERS]
    canvas.add(f'<polygon class="triangle" points="{path_of(corners)}"/>')
    top, left, right = corners
    room = 40 if canvas.is_wide else 16
    names = [shorten(name, room) for name in found.names]
    canvas.write(top[0], top[1] - 16, names[0], "middle", "part")
    canvas.write(left[0] - 30, left[1] + 34, names[1], "start", "part")
    canvas.write(right[0] + 30, right[1] + 34, names[2], "end", "part")
    simplex, span = found.simplex, 1 - float(np.sum(found.simplex.least))
    # the amounts of a part grow from the first corner of a side to the second, its own
    sides = ((right, top), (top, left), (left, right))
    for part, (start, end) in enumerate(sides):
        unit = simplex.total / simplex.weights[part]
        low = float(simplex.least[part] * unit)
        high = float((simplex.least[part] + span) * unit)
        toward = sides[part - 1][0]  # a tick goes on along the line of equal amounts
        values = round_values(low, high, 5 if canvas.is_wide else 4)
        for value, text in zip(values, distinct(values), strict=True):
            share = (value - low) / (high - low)
            if 0.02 < share < 0.98:
                _draw_tick(canvas, (start, end, toward), share, text)


def _draw_tick(canvas: Canvas, lines: tuple[Point, Point, Point], share: float, text: str) -> None:
    """A tick on a side, a faint line across the triangle, and a label outside."""
    start, end, far = lines
    x, y = (a + share * (b - a) for a, b in zip(start, end, strict=True))
    # the line of equal amounts meets the other side through the part's own corner
    other = tuple(a + share * (b - a) for a, b in zip(far, end, strict=True))
    canvas.segment((x, y), (other[0], other[1]), "lattice")
    length = np.hypot(x - other[0], y - other[1]) or 1.0
    out = (x - other[0]) / length, (y - other[1]) / length
    canvas.segment((x, y), (x + _TICK * out[0], y + _TICK * out[1]), "side")
    anchor = "start" if out[0] > 0.9 else "end" if out[0] < 0 else "middle"
    canvas.write(
        x + 9 * out[0], y + 9 * out[1] + (4 if out[1] == 0 else 2 + 6 * out[1]), text, anchor
    )


def _draw_places(canvas: Canvas, found: Ternary, aspect: Aspect) -> None:
    """The measurements, fainter the farther away they were made otherwise, and the answer."""
    simplex = found.simplex
    across, up = simplex.picture(simplex.shares(np.nan_to_num(aspect.places)))
    shown = np.flatnonzero((up > -0.01) & (across - up / 2 > -0.01) & (across + up / 2 < 1.01))
    others = [k for k in range(aspect.places.shape[1]) if k not in simplex.columns]
    gaps = np.nan_to_num(aspect.places[:, others] - aspect.best_place[others], nan=1.0)
    distances = np.sqrt(np.mean(gaps**2, axis=1)) if others else np.zeros(len(across))
    chosen = shown[visible(across[shown], up[shown])]
    numbered = len(chosen) <= (_MOST_NUMBERED if canvas.is_wide else _MOST_NUMBERED // 3)
    placed: list[Point] = []  # ends of the numbers
    for index in chosen:
        trial = aspect.measured[index]
        x, y = _pixel(canvas, float(across[index]), float(up[index]))
        kind = ("", " aside", " apart")[np.digitize(distances[index], (_NEAR, _FAR))]
        title = f"trial {trial.number}: {rounded(mean_value(trial))}"
        canvas.dot(x, y, 2.6, f"visited{kind}", title)
        end = x + 4 + width_of(str(trial.number)), y - 4
        if numbered and _has_room(canvas, end, placed):
            placed.append(end)
            canvas.write(x + 4, y - 4, str(trial.number), kind=f"number{kind}")
    best = simplex.picture(simplex.shares(aspect.best_place[None, :]))
    canvas.add(star(*_pixel(canvas, float(best[0][0]), float(best[1][0]))))


def _has_room(canvas: Canvas, end: Point, placed: list[Point]) -> bool:
    """Whether the number of a trial that ends there is in the triangle and beside the others."""
    left, top, right, bottom = canvas.frame
    across, up = (end[0] - left) / (right - left), (bottom - end[1] + HEIGHT) / (bottom - top)
    inside = across + up / 2 < 1.0
    widest = width_of("000")
    return inside and all(abs(end[0] - x) > widest or abs(end[1] - y) > HEIGHT for x, y in placed)
