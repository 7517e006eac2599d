"""Fronts of two or three goals that are minimised: who is on them, their volume, what is beyond.

A row of values dominates another if it is no larger in any goal and smaller in one. The front holds
the rows that none dominates, and its hypervolume is the volume of the region that it dominates,
bounded by a reference point r.

What the front does not dominate is cut into boxes that do not overlap. With two goals these are
strips: with the front sorted by its first goal, a_1 < … < a_m and b_1 > … > b_m, strip i lies
between a_i and a_{i+1} and below b_i (a_0 = −∞, b_0 = r_2, a_{m+1} = r_1). With three goals the
front is swept along the third one. The strips of the first two goals live on until a point of the
front cuts them, and each then leaves one box: at most 2 m + 1 boxes in all.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ceibo.errors import InputError
from ceibo.gp.inputs import Array, Mask, as_floats

_MARGIN: Final = 0.1  # the least that the reference point lies beyond the front, in its ranges


def nondominated(values: ArrayLike) -> Mask:
    """Which rows of `values` (n, k) are on the front, (n,); of equal rows the first."""
    rows = _as_rows(values, "values")
    kept = np.zeros(len(rows), dtype=bool)
    # sorted by the first goal, ties by the next ones: no row dominates an earlier one
    left = np.lexsort(rows.T[::-1])
    if rows.shape[1] == 2:
        second = rows[left, 1]
        before = np.minimum.accumulate(np.concatenate([[np.inf], second[:-1]]))
        kept[left[second < before]] = True
        return kept
    while len(left):
        kept[left[0]] = True
        left = left[np.any(rows[left] < rows[left[0]], axis=1)]
    return kept


def hypervolume(values: ArrayLike, reference: ArrayLike) -> float:
    """Volume between the rows of `values` (n, k) and the reference point (k,); k is 2 or 3.

    Rows that are not below the reference point in every goal add nothing.
    """
    rows, r = _as_rows(values, "values"), _as_floats_of_goals(reference, values)
    inside = rows[np.all(rows < r, axis=1)]
    if len(inside) == 0:
        return 0.0
    # in shares of the box that holds them all, which neither overflow nor underflow
    size = r - inside.min(axis=0)
    front = (r - inside[nondominated(inside)]) / size
    share = _area(front) if rows.shape[1] == 2 else _volume(front)
    with np.errstate(over="ignore", under="ignore"):
        return float(share * np.prod(size))


def _area(depths: Array) -> float:
    """Area covered by the rectangles from the origin to each row (m, 2)."""
    ordered = depths[np.argsort(-depths[:, 0], kind="stable")]
    tops = np.maximum.accumulate(ordered[:, 1])
    widths = ordered[:, 0] - np.append(ordered[1:, 0], 0.0)
    return float(widths @ tops)


def _volume(depths: Array) -> float:
    """Volume covered by the boxes from the origin to each row (m, 3): a sum over slabs."""
    ordered = depths[np.argsort(-depths[:, 2], kind="stable")]
    slabs = ordered[:, 2] - np.append(ordered[1:, 2], 0.0)
    areas = [_area(ordered[: i + 1, :2]) if slab > 0 else 0.0 for i, slab in enumerate(slabs)]
    return float(slabs @ np.array(areas))


def reference_point(values: ArrayLike, spare: ArrayLike | None = None) -> Array:
    """The reference point (k,) that goes with the front of `values` (n, k), from them alone.

    In each goal it lies beyond the worst value on the front, by a share of the front's range. The
    share is 1/(m − 1) for m points on the front, of two goals, and at least a tenth: the distance
    between neighbours of an even front, so that its ends count as much as what is between them
    (Ishibuchi et al. 2018). With three goals an even front of m points has about √(2 m) of them
    along each edge.

    Where the front has no range, such as a front of one point, the range of all values takes its
    place; where they are all equal, `spare` does.

    Args:
        values: that are minimised.
        spare: (k,) the range taken where all values of a goal are equal; by default the size of
            the value, or 1 if that is 0.
    """
    rows = _as_rows(values, "values")
    front = rows[nondominated(rows)]
    worst = front.max(axis=0)
    if spare is None:
        size = np.abs(worst)
        spares = np.where(size > 0, size, 1.0)
    else:
        spares = _as_floats_of_goals(spare, rows)
    whole, extent = np.ptp(rows, axis=0), np.ptp(front, axis=0)
    extent = np.where(extent > 0, extent, np.where(whole > 0, whole, spares))
    steps = _steps(len(front), rows.shape[1])
    return np.asarray(worst + max(_MARGIN, 1.0 / max(steps, 1)) * extent)


def _steps(count: int, goals: int) -> int:
    """How many steps the edge of an even front of so many points has."""
    if goals == 2:
        return count - 1
    # (h + 1)(h + 2)/2 points
    return int((np.sqrt(8.0 * count + 1.0) - 3.0) / 2.0)


def boxes_beyond(front: Array, reference: Array) -> tuple[Array, Array]:
    """Lower and upper corners (B, k) of boxes that fill what the front does not dominate.

    Args:
        front: (m, k) rows that do not dominate each other, none twice, all below the reference
            point in every goal; none at all is allowed.
        reference: (k,), k is 2 or 3.
    """
    if front.shape[1] == 2:
        return _strips(front, reference)
    return _swept(front, reference)


def _strips(front: Array, reference: Array) -> tuple[Array, Array]:
    ordered = front[np.argsort(front[:, 0], kind="stable")]
    lower = np.full((len(front) + 1, 2), -np.inf)
    upper = np.empty_like(lower)
    lower[1:, 0] = ordered[:, 0]
    upper[:-1, 0], upper[-1, 0] = ordered[:, 0], reference[0]
    upper[0, 1], upper[1:, 1] = reference[1], ordered[:, 1]
    return lower, upper


def _swept(front: Array, reference: Array) -> tuple[Array, Array]:
    """The same for three goals."""
    low, high = -np.inf, [float(r) for r in reference]
    # a strip of the first two goals: from, to, below, and the third goal's value since when
    strips = [(low, high[0], high[1], low)]
    boxes: list[tuple[float, ...]] = []

    def close(strip: tuple[float, float, float, float], level: float) -> None:
        start, end, top, since = strip
        if since < level:
            boxes.append((start, low, since, end, top, level))

    for a, b, c in front[np.lexsort(front.T)].tolist():
        # strips to the right of a are cut where they reach above b; tops fall from left to right
        first = next((i for i, strip in enumerate(strips) if strip[1] > a), len(strips))
        last = first
        while last < len(strips) and strips[last][2] > b:
            close(strips[last], c)
            last += 1
        if last == first:
            continue  # dominated in the first two goals by an earlier one with the same third
        start, _, top, _ = strips[first]
        left = [(start, a, top, c)] if start < a else []
        strips[first:last] = [*left, (a, strips[last - 1][1], b, c)]
    for strip in strips:
        close(strip, high[2])
    corners = np.array(boxes)
    return corners[:, :3], corners[:, 3:]


def _as_rows(values: ArrayLike, name: str) -> Array:
    rows = as_floats(values, name)
    if rows.ndim != 2 or rows.shape[0] == 0 or rows.shape[1] not in (2, 3):
        raise InputError(
            f"{name} must have shape (n, k), one column for each of 2 or 3 goals, but has shape"
            f" {rows.shape}."
        )
    if not np.all(np.isfinite(rows)):
        raise InputError(f"{name} must be finite numbers. Leave out or repair the other rows.")
    return rows


def _as_floats_of_goals(values: ArrayLike, rows: ArrayLike) -> Array:
    """One number per column of `rows`."""
    numbers, goals = as_floats(values, "reference"), np.shape(rows)[1]
    if numbers.shape != (goals,) or not np.all(np.isfinite(numbers)):
        raise InputError(
            f"there must be one finite number for each of {goals} goals, got {numbers.tolist()}."
        )
    return numbers
