"""Lines and areas cut off at the edges of a box, so that no curve leaves its frame."""

from collections.abc import Sequence
from itertools import pairwise

Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, right, bottom


def cut_line(points: Sequence[Point], box: Box) -> list[list[Point]]:
    """The pieces of a line through points that lie within a box (Liang and Barsky)."""
    if len(points) == 1:
        return [list(points)] if _holds(box, points[0]) else []
    pieces: list[list[Point]] = []
    for start, end in pairwise(points):
        inside = cut_segment(start, end, box)
        if inside is None:
            continue
        first, last = inside
        if pieces and pieces[-1][-1] == first:
            pieces[-1].append(last)
        else:
            pieces.append([first, last])
    return pieces


def cut_segment(start: Point, end: Point, box: Box) -> tuple[Point, Point] | None:
    """The part of a segment within a box; None if there is none."""
    (x0, y0), (x1, y1) = start, end
    left, top, right, bottom = box
    first, last = 0.0, 1.0
    for step, room in (
        (x0 - x1, x0 - left),
        (x1 - x0, right - x0),
        (y0 - y1, y0 - top),
        (y1 - y0, bottom - y0),
    ):
        if step == 0:
            if room < 0:
                return None
        elif step < 0:
            first = max(first, room / step)
        else:
            last = min(last, room / step)
    if first > last:
        return None

    def at(share: float) -> Point:
        if share in (0.0, 1.0):
            return end if share else start
        return x0 + share * (x1 - x0), y0 + share * (y1 - y0)

    return at(first), at(last)


def cut_area(points: Sequence[Point], box: Box) -> list[Point]:
    """The part of a polygon within a box, edge after edge (Sutherland and Hodgman)."""
    kept = list(points)
    for axis, edge, sign in zip((0, 1, 0, 1), box, (1, 1, -1, -1), strict=True):
        before, kept = kept, []
        for here, there in zip(before, [*before[1:], *before[:1]], strict=True):
            one, other = sign * (here[axis] - edge), sign * (there[axis] - edge)
            if one >= 0:
                kept.append(here)
            if (one > 0 > other) or (one < 0 < other):
                share = one / (one - other)
                x, y = (a + share * (b - a) for a, b in zip(here, there, strict=True))
                kept.append((edge, y) if axis == 0 else (x, edge))
    return kept


def _holds(box: Box, point: Point) -> bool:
    left, top, right, bottom = box
    return left <= point[0] <= right and top <= point[1] <= bottom
