"""The volume that points dominate below a reference point, for two and three goals."""

import numpy as np

from ceibo.gp.inputs import Array


def nondominated(values: Array) -> Array:
    """(n,) which rows of values (n, k), all minimised, no other row dominates."""
    weakly = np.all(values[:, None, :] <= values[None, :, :], axis=2)
    strictly = np.any(values[:, None, :] < values[None, :, :], axis=2)
    return np.asarray(~np.any(weakly & strictly, axis=0))


def hypervolume(values: Array, reference: Array) -> float:
    """The volume dominated by the rows of values (n, 2) or (n, 3) below the reference point."""
    inside = values[np.all(values < reference, axis=1)]
    if not len(inside):
        return 0.0
    return _area(inside, reference) if len(reference) == 2 else _volume(inside, reference)


def _area(values: Array, reference: Array) -> float:
    """Strips from left to right, each as high as the lowest point so far reaches down."""
    ordered = values[np.lexsort((values[:, 1], values[:, 0]))]
    ends = np.append(ordered[1:, 0], reference[0])
    lowest = np.minimum.accumulate(ordered[:, 1])
    return float(np.sum((ends - ordered[:, 0]) * (reference[1] - lowest)))


def _volume(values: Array, reference: Array) -> float:
    """Slices between neighbouring values of the last goal, each an area."""
    ordered = values[np.argsort(values[:, 2], kind="stable")]
    ends = np.append(ordered[1:, 2], reference[2])
    heights = ends - ordered[:, 2]
    areas = [
        _area(ordered[: k + 1, :2], reference[:2]) if height > 0.0 else 0.0
        for k, height in enumerate(heights)
    ]
    return float(heights @ np.array(areas))
