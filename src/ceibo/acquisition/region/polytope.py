"""A polytope inside the unit cube: whether it is empty, a centre, and uniform points of it.

Notation: q columns z in [0, 1], G z ≤ h with the bounds among the rows, E z = e. Equalities, also
those that inequalities imply, are eliminated once: z = centre + P w, where the columns of P span
the directions that are left and w is scaled by the ellipsoid of Dikin at the analytic centre. In w
the polytope is round within a factor of the number of constraints, however thin it is in z, and
hit-and-run (Smith 1984) mixes in few steps: from a point, a random direction, and a uniform point
of the chord along it. Columns may be weighed by 1/(z + offset), which is uniform in its logarithm;
then the point of the chord is found by slice sampling with shrinkage (Neal 2003).
"""

from dataclasses import dataclass, field
from typing import Final, Self, final

import numpy as np

from ceibo.gp.inputs import Array

_FLAT: Final = 1e-10  # slack below which an inequality counts as an equality
_WELL_INSIDE: Final = 1e-4  # distance from all sides at which a point is an interior one
_NEWTON: Final = 60  # steps to the analytic centre, at most
_LEAST_STEPS, _STEPS_PER_DIMENSION = 24, 6  # of hit-and-run from the centre
_FURTHER_STEPS, _MOST_FURTHER = 2, 8  # and from a uniform point, with one for each dimension
_MOST_STEPS: Final = 400
_MOST_AGAIN: Final = 8  # times that each point kept is gone on from


@final
@dataclass(frozen=True, eq=False)
class Polytope:
    """Uniform points of a polytope that is not empty; made by `polytope`."""

    G: Array  # (m, q) inequalities that are not implied equalities
    h: Array  # (m,)
    centre: Array  # (q,)
    P: Array  # (q, r)
    offsets: Array  # (q,) of the columns weighed by 1/(z + offset); inf in others
    starts: Array = field(repr=False)  # (c, q) uniform points to go on from

    @property
    def dimension(self) -> int:
        """r, of the directions that are left."""
        return int(self.P.shape[1])

    def sample(self, count: int, rng: np.random.Generator) -> Array:
        """Points (count, q): some of the uniform points kept, moved on by some steps each.

        Many more points than are kept come from long walks, so that they do not depend on these.
        """
        Z = self.starts[rng.integers(len(self.starts), size=count)]
        few = count <= _MOST_AGAIN * len(self.starts)
        short = min(_FURTHER_STEPS + self.dimension, _MOST_FURTHER)
        return self.walk(Z, short if few else self._steps, rng)

    @property
    def _steps(self) -> int:
        """Of a long walk."""
        return min(_LEAST_STEPS + _STEPS_PER_DIMENSION * self.dimension, _MOST_STEPS)

    def walk(self, Z: Array, steps: int, rng: np.random.Generator) -> Array:
        """Points (N, q) after some steps of hit-and-run from Z (N, q)."""
        if self.dimension == 0:
            return Z
        weighed = np.isfinite(self.offsets)
        for _ in range(steps):
            ways = rng.standard_normal((len(Z), self.dimension)) @ self.P.T
            near, far = self._chord(Z, ways)
            if weighed.any():
                at = self._slice(Z, ways, near, far, rng)
            else:
                at = near + rng.random(len(Z)) * (far - near)
            Z = Z + at[:, None] * ways
        return np.clip(Z, 0.0, 1.0)

    def _chord(self, Z: Array, ways: Array) -> tuple[Array, Array]:
        """From where to where a point may go along its way, (N,) each."""
        rates = ways @ self.G.T
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.maximum(self.h - Z @ self.G.T, 0.0) / rates
        far = np.where(rates > 0.0, ends, np.inf).min(axis=1)
        near = np.where(rates < 0.0, ends, -np.inf).max(axis=1)
        return np.where(np.isfinite(near), near, 0.0), np.where(np.isfinite(far), far, 0.0)

    def _slice(
        self, Z: Array, ways: Array, near: Array, far: Array, rng: np.random.Generator
    ) -> Array:
        """A point (N,) of each chord by the density of the weighed columns."""
        level = self._density(Z) + np.log(rng.random(len(Z)))
        near, far = near.copy(), far.copy()
        at = near + rng.random(len(Z)) * (far - near)
        for _ in range(100):
            low = self._density(Z + at[:, None] * ways) < level
            if not low.any():
                return at
            far = np.where(low & (at > 0.0), at, far)
            near = np.where(low & (at <= 0.0), at, near)
            at = np.where(low, near + rng.random(len(Z)) * (far - near), at)
        return np.where(low, 0.0, at)

    def _density(self, Z: Array) -> Array:
        weighed = np.isfinite(self.offsets)
        inside = np.maximum(Z[:, weighed] + self.offsets[weighed], 1e-300)
        return np.asarray(-np.log(inside).sum(axis=1))

    def settled(self, count: int, rng: np.random.Generator) -> Self:
        """With so many uniform points to go on from, found by a long walk from the centre."""
        Z = np.broadcast_to(self.centre, (count, len(self.centre)))
        parts = self.G, self.h, self.centre, self.P, self.offsets
        return type(self)(*parts, self.walk(Z, self._steps, rng))


def polytope(A: Array, low: Array, high: Array, offsets: Array) -> Polytope | None:
    """The part of the cube [0, 1]^q with low ≤ A z ≤ high, (m, q) and (m,); None if it is empty.

    It has no points to go on from yet but its centre.
    """
    q = A.shape[1]
    length = np.linalg.norm(A, axis=1)
    if np.any((length == 0.0) & ((low > _FLAT) | (high < -_FLAT))):
        return None
    A, low, high = (part[length > 0.0] for part in (A, low, high))
    length = length[length > 0.0]
    A, low, high = A / length[:, None], low / length, high / length
    equal = high - low <= _FLAT
    E, e = A[equal], ((low + high) / 2)[equal]
    sides = np.concatenate([A[~equal], -A[~equal]]), np.concatenate([high[~equal], -low[~equal]])
    bounded = np.isfinite(sides[1])
    G = np.concatenate([sides[0][bounded], np.eye(q), -np.eye(q)])
    h = np.concatenate([sides[1][bounded], np.ones(q), np.zeros(q)])
    for _ in range(q + 1):
        N = _null_space(E, q)
        reach = np.linalg.norm(G @ N, axis=1)
        found = _middle(G, h, reach, E, e) or _chebyshev(G, h, reach, E, e)
        if found is None:
            return None
        z, radius = found
        if radius > _FLAT or N.shape[1] == 0:
            break
        # Inequalities without slack anywhere are equalities.
        flat = np.array(
            [
                _largest_slack(row, side, (G, h, E, e)) <= _FLAT
                for row, side in zip(G, h, strict=True)
            ]
        )
        flat &= reach > 1e-12
        if not flat.any():
            break
        E, e = np.concatenate([E, G[flat]]), np.concatenate([e, h[flat]])
        G, h = G[~flat], h[~flat]
    keep = np.linalg.norm(G @ N, axis=1) > 1e-12
    G, h = G[keep], h[keep]
    centre, P = _rounded(G, h, z, N)
    return Polytope(G, h, centre, P, offsets, centre[None, :])


def _null_space(E: Array, q: int) -> Array:
    """(q, r) an orthonormal basis of the directions along which E z stays."""
    if len(E) == 0:
        return np.eye(q)
    _, singular, Vt = np.linalg.svd(E, full_matrices=True)
    rank = int((singular > 1e-10 * singular[0]).sum())
    return np.asarray(Vt[rank:].T)


def _middle(G: Array, h: Array, reach: Array, E: Array, e: Array) -> tuple[Array, float] | None:
    """The point of the equalities nearest to the middle of the cube, if it is well inside."""
    z = np.full(G.shape[1], 0.5)
    if len(E):
        z = z + np.linalg.lstsq(E, e - E @ z, rcond=1e-12)[0]
        if np.abs(E @ z - e).max() > _FLAT:
            return None
    slack = h - G @ z
    touched = reach > 1e-12
    radius = float((slack[touched] / reach[touched]).min(initial=1.0))
    return (z, radius) if radius > _WELL_INSIDE and (slack > -_FLAT).all() else None


def _chebyshev(G: Array, h: Array, reach: Array, E: Array, e: Array) -> tuple[Array, float] | None:
    """The centre and radius of the largest ball inside, or None if there is no point inside."""
    from scipy.optimize import linprog  # slow to import, and not needed without rules

    q = G.shape[1]
    cost = np.zeros(q + 1)
    cost[-1] = -1.0
    found = linprog(
        cost,
        np.column_stack([G, reach]),
        h,
        np.column_stack([E, np.zeros(len(E))]),
        e,
        bounds=[(None, None)] * q + [(0.0, 1.0)],
        method="highs",
    )
    if found.status != 0 or found.x is None:
        return None
    return np.asarray(found.x[:q]), float(found.x[-1])


def _largest_slack(row: Array, side: float, rest: tuple[Array, Array, Array, Array]) -> float:
    """How far inside one inequality the others let a point be."""
    from scipy.optimize import linprog

    found = linprog(row, *rest, bounds=[(None, None)] * len(row), method="highs")
    return float(side - (found.fun or 0.0)) if found.status == 0 else np.inf


def _rounded(G: Array, h: Array, z: Array, N: Array) -> tuple[Array, Array]:
    """The analytic centre from an interior point z, and the axes (q, r) of its ellipsoid."""
    if N.shape[1] == 0:
        return z, N
    rows = G @ N
    slack = h - G @ z
    if np.any(slack <= 0.0):
        return z, N
    y = np.zeros(N.shape[1])
    for _ in range(_NEWTON):
        s = slack - rows @ y
        scaled = rows / s[:, None]
        gradient, hessian = scaled.sum(axis=0), scaled.T @ scaled
        step = -np.linalg.lstsq(hessian, gradient, rcond=1e-14)[0]
        decrement = float(np.sqrt(max(-gradient @ step, 0.0)))
        y = y + step / (1.0 + decrement)  # the damped step stays inside
        if decrement < 1e-6:
            break
    s = slack - rows @ y
    scaled = rows / s[:, None]
    eigenvalues, vectors = np.linalg.eigh(scaled.T @ scaled)
    floor = max(float(eigenvalues[-1]), 1.0) * 1e-24
    axes = vectors / np.sqrt(np.maximum(eigenvalues, floor))
    return z + N @ y, N @ axes
