"""All admissible points of a region whose columns are all listed, where they are not too many."""

from typing import TYPE_CHECKING, Final

import numpy as np

from ceibo.gp.inputs import Array, Mask

if TYPE_CHECKING:
    from ceibo.acquisition.region.frame import Frame

_MOST: Final = 100_000  # points, also of those begun


def list_points(frame: "Frame") -> Array | None:
    """The points (N, d), or None where a column is continuous or the points are too many.

    Columns are added one by one; what no values of the later columns can make right is left out.
    """
    if frame.values.is_continuous.any():
        return None
    columns = [frame.values.discrete[k] for k in range(frame.dimension)]
    numbers = [frame.values.values_of(k) for k in range(frame.dimension)]
    terms = _always(frame)
    C, b, equal = frame.stack.C[terms], frame.stack.b[terms], frame.stack.equal[terms]
    margin = 1e-9 * frame.stack.scale[terms]
    least = np.array(
        [np.minimum(C[:, k] * v.min(), C[:, k] * v.max()) for k, v in enumerate(numbers)]
    )
    most = np.array(
        [np.maximum(C[:, k] * v.min(), C[:, k] * v.max()) for k, v in enumerate(numbers)]
    )
    X, sums = np.empty((1, 0)), np.zeros((1, len(b)))
    for k, (allowed, values) in enumerate(zip(columns, numbers, strict=True)):
        if len(X) * len(allowed) > 8 * _MOST:
            return None
        X = np.column_stack([np.repeat(X, len(allowed), axis=0), np.tile(allowed, len(X))])
        added = values[:, None] * C[:, k]
        sums = (sums[:, None, :] + added).reshape(len(X), len(b))
        low, high = sums + least[k + 1 :].sum(axis=0), sums + most[k + 1 :].sum(axis=0)
        open_: Mask = ((low <= b + margin) & (~equal | (high >= b - margin))).all(axis=1)
        X, sums = X[open_], sums[open_]
        if len(X) > _MOST:
            return None
    X, _ = frame.canonical(X)
    X = np.unique(X, axis=0) if frame.branching is not None else X
    return X[frame.holds(X)]


def _always(frame: "Frame") -> list[int]:
    """The linear terms that every point obeys: of single alternatives, without branches."""
    if frame.branching is not None:
        return []
    single = [each.alternatives[0] for each in frame.stack.choices if len(each.alternatives) == 1]
    return [int(term) for alternative in single for term in alternative.linear]
