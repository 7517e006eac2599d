"""The posterior along one parameter, through the best setting, as a small drawing."""

from collections.abc import Iterable, Mapping
from itertools import groupby, pairwise
from typing import Final

import numpy as np

from ceibo.decide.effects import BlockEffect, offsets_of
from ceibo.gp.inputs import Array, Mask
from ceibo.numbers import rounded, with_uncertainty
from ceibo.report.axes import make_room_for, x_labels, y_axis
from ceibo.report.facts import Aspect, Slice
from ceibo.report.parts import draw_limit, labels_below
from ceibo.report.svg import Canvas, Point, Scale, px, text_of

Offsets = Mapping[tuple[str, str], float]  # of values measured in a block, a (kind, name)
_MOST_DOTS: Final = 250  # trials shown in a slice, nearest first
# limits of distances in the unit cube that are shown differently
_NEAR: Final = 0.1
_FAR: Final = 0.25
_STRIP: Final = (14.0, 64.0)  # pixels from the frame to the top and the bottom of what is below


def grid_of_slices(
    slices: Iterable[Slice],
    aspect: Aspect,
    effects: Iterable[BlockEffect],
    confidence: float | None = None,
) -> str:
    """Slices side by side; shaded where limits hold with less than the confidence.

    Measurements are shown without the effects of their blocks, as the posterior is free of them.
    """
    figures, offsets = [], offsets_of(effects)
    for each in slices:
        caption = f"<figcaption>{text_of(each.name, 60)}</figcaption>"
        drawing = _draw(each, aspect, offsets, confidence)
        figures.append(f'<figure class="slice">{caption}{drawing}</figure>')
    return f'<div class="grid-of-slices">{"".join(figures)}</div>'


def _draw(each: Slice, aspect: Aspect, offsets: Offsets, confidence: float | None) -> str:
    has_strip = each.chance is not None or each.gain is not None
    height, bottom = (250, 98) if has_strip else (190, 38)
    canvas = Canvas(330, height, f"Slice along {each.name}", left=50, bottom=bottom)
    low, high = each.band
    seen = np.ones(len(low), dtype=bool) if each.held is None else each.held
    y = Scale.over([*low[seen], *high[seen]], canvas.up)
    make_room_for(canvas, [rounded(each.strip_top, 2)])
    y_axis(canvas, y, count=4)
    x = Scale(0.0, 1.0, *canvas.across)
    labels, extra = labels_below(each.dimension, canvas.across, 4)
    canvas.height, canvas.bottom = canvas.height + round(extra), canvas.bottom + round(extra)
    foot = canvas.up[0] + (_STRIP[1] if has_strip else 4)
    _shade_excluded(canvas, each, x)
    if each.chance is not None and confidence is not None:
        _shade(canvas, each, x, confidence)
    _draw_measurements(canvas, each, aspect, offsets, (x, y))
    upper = _curve(each, high, x, y)
    middle = _curve(each, each.mean, x, y)
    lower = _curve(each, low, x, y)
    if each.dimension.is_ordered:
        for run in _runs(each):
            canvas.band(upper[run], lower[run], "band")
            canvas.line(middle[run], "incumbent")
    else:
        for index, mean in enumerate(each.mean):
            if not seen[index]:
                continue
            canvas.bar(upper[index], lower[index], "whisker")
            canvas.dot(*middle[index], 4, "level", with_uncertainty(mean, each.std[index]))
    if aspect.limit is not None:
        draw_limit(canvas, y, aspect.limit)
    chosen = x(float(aspect.best_place[each.column]))
    canvas.segment((chosen, canvas.up[1]), (chosen, foot), "chosen")
    if each.chance is not None:
        _draw_strip(canvas, each, x, (each.chance, "chance"))
    elif each.gain is not None:
        _draw_strip(canvas, each, x, (each.gain, "gain"))
    x_labels(canvas, labels, foot + 4, turned=extra > 0)
    return canvas.render()


def _runs(each: Slice) -> list[slice]:
    """The stretches of a slice on which rules hold: one, if there are none."""
    if each.held is None:
        return [slice(0, len(each.places))]
    edges = np.flatnonzero(np.diff(np.concatenate([[0], each.held.astype(int), [0]])))
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _curve(each: Slice, values: Iterable[float], x: Scale, y: Scale) -> list[Point]:
    """Pixels of a function along the parameter."""
    return [(x(place), y(float(value))) for place, value in zip(each.places, values, strict=True)]


def _draw_measurements(
    canvas: Canvas, each: Slice, aspect: Aspect, offsets: Offsets, scales: tuple[Scale, Scale]
) -> None:
    """The measurements, the fainter the farther away they were made in the other parameters."""
    x, y = scales
    # what exists in one of two settings only is as far as can be
    gaps = np.nan_to_num(aspect.places - _path_at(each, aspect), nan=1.0)
    gaps[:, each.column] = 0.0
    distances = np.sqrt(np.mean(gaps**2, axis=1))
    distances[np.isnan(aspect.places[:, each.column])] = np.nan  # without the parameter
    order = np.argsort(distances, kind="stable")[: np.sum(np.isfinite(distances))]
    for index in order[:_MOST_DOTS]:
        at = x(float(aspect.places[index, each.column]))
        kind = ("near", "middle", "far")[np.digitize(distances[index], (_NEAR, _FAR))]
        for measurement in aspect.measured[index].measurements:
            offset = sum(offsets.get(block, 0.0) for block in measurement.block)
            for value in measurement.replicates or (measurement.value,):
                if y.has(value - offset):
                    canvas.dot(at, y(value - offset), 2.4, kind)


def _path_at(each: Slice, aspect: Aspect) -> Array:
    """The points of the slice at the measured coordinates, (n, d), or the one it goes through."""
    path = each.path
    if path is None:
        return aspect.best_place
    at = np.nan_to_num(aspect.places[:, each.column])
    if not each.dimension.is_ordered:
        return aspect.best_place
    return np.stack([np.interp(at, path[:, each.column], column) for column in path.T], axis=1)


def _draw_strip(canvas: Canvas, each: Slice, x: Scale, what: tuple[Array, str]) -> None:
    """Corrected EI, or the chance that limits hold, below the posterior."""
    values, kind = what
    most = each.strip_top
    top, bottom = (canvas.up[0] + distance for distance in _STRIP)
    box = (canvas.left, top, canvas.across[1], bottom)
    canvas.strips.append(box)
    y = Scale(0.0, most if most > 0 else 1.0, bottom, top)
    canvas.segment((canvas.across[0], bottom), (canvas.across[1], bottom), "grid")
    canvas.write(canvas.left - 6, top + 8, rounded(most, 2), "end")
    canvas.write(canvas.left - 6, bottom + 3, "0", "end")
    tops = _curve(each, values, x, y)
    if each.dimension.is_ordered:
        for run in _runs(each):
            foot = [(at, bottom) for at, _ in tops[run]]
            canvas.band(tops[run], foot, f"{kind}-area", box)
            canvas.line(tops[run], kind, box)
        return
    for at, high in (top for run in _runs(each) for top in tops[run]):
        size = f'width="12" height="{px(bottom - high)}"'
        canvas.add(f'<rect class="{kind}-area" x="{px(at - 6)}" y="{px(high)}" {size}/>')


def _shade(canvas: Canvas, each: Slice, x: Scale, confidence: float) -> None:
    """What lies where limits hold with less than the confidence."""
    assert each.chance is not None
    doubtful = each.chance < confidence
    if each.held is not None:
        doubtful &= each.held
    bottom, top = canvas.up
    _cover(canvas, each, x, doubtful, ("doubtful", top, bottom))


def _shade_excluded(canvas: Canvas, each: Slice, x: Scale) -> None:
    """What lies where rules do not hold, down to the labels of the axis."""
    if each.held is not None and not np.all(each.held):
        reach = ("excluded", canvas.up[1], canvas.height - 34)
        _cover(canvas, each, x, ~each.held, reach)


def _cover(
    canvas: Canvas, each: Slice, x: Scale, where: Mask, how: tuple[str, float, float]
) -> None:
    """Covers stretches of the axis with boxes of a kind, from a top to a bottom."""
    kind, top, bottom = how
    edges = [0.0, *((a + b) / 2 for a, b in pairwise(each.places)), 1.0]
    flags = where.tolist()
    for is_covered, run in groupby(range(len(flags)), flags.__getitem__):
        first, *rest = run
        low, high = x(edges[first]), x(edges[[first, *rest][-1] + 1])
        if is_covered:
            box = f'x="{px(low)}" y="{px(top)}" width="{px(high - low)}"'
            canvas.add(f'<rect class="{kind}" {box} height="{px(bottom - top)}"/>')
