"""Spaces with rules in drawings: paths within equalities, triangles of mixtures, importance."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ceibo.decide import Categorical, Float, Int, Ordinal, Space
from ceibo.decide.region import region_of
from ceibo.decide.surface.grids import along, excluded, over
from ceibo.decide.surface.ruled import holding, moved, path_along
from ceibo.decide.surface.sensitivity import importance
from ceibo.gp import fit_gp
from ceibo.report.simplex import Simplex, simplex_of

SYRUP = Space(
    {
        "sugar": Float(0, 0.6),
        "water": Float(0.05, 1),
        "acid": Float(0, 1),
        "temp": Float(20, 90),
        "solvent": Categorical(["THF", "DMF"]),
    },
    constraints=[
        "sugar + water + acid == 1",
        "sugar <= 0.5 * water",
        "temp <= 66 if solvent == 'THF'",
    ],
)
SETTING = {"sugar": 0.2, "water": 0.5, "acid": 0.3, "temp": 50.0, "solvent": "THF"}
shares = st.lists(st.floats(0.01, 1), min_size=3, max_size=5)


def all_hold(space: Space, X: np.ndarray) -> np.ndarray:
    """Whether every rule as it was written holds at points, one by one."""
    settings_at = [space.from_unit(x) for x in X]
    return np.array([all(rule.holds(each) for rule in space.rules) for each in settings_at])


# paths


@given(shares, st.floats(0, 1), st.integers(0, 2))
def test_parts_of_a_mixture_move_in_proportion(amounts: list[float], to: float, part: int) -> None:
    names = [f"p{k}" for k in range(len(amounts))]
    rule = f"{' + '.join(names)} == 1"
    space = Space({name: Float(0, 1) for name in names}, constraints=[rule])
    place = np.array(amounts) / sum(amounts)
    X = place[None, :].copy()
    X[:, part] = to
    found = moved(space, X, (part,))[0]
    assert found[part] == to
    assert np.sum(found) == pytest.approx(1, abs=1e-12)
    others = [k for k in range(len(names)) if k != part]
    ratio = (1 - to) / (1 - place[part])
    np.testing.assert_allclose(found[others], place[others] * ratio, atol=1e-12)


@settings(max_examples=50)
@given(st.floats(0, 1), st.floats(0.1, 0.4), st.floats(0.2, 0.5))
def test_a_part_at_its_limit_leaves_the_rest_to_the_others(to: float, b: float, c: float) -> None:
    dimensions = {
        "a": Float(0, 1),
        "b": Float(0.1, 0.4),
        "c": Float(0, 0.5),
        "d": Float(1, 9, log=True),
    }
    space = Space(dimensions, constraints=["2*a + b + c == 1", "a + d <= 9"])
    place = space.to_unit({"a": (1 - b - c) / 2, "b": b, "c": c, "d": 2.0})
    X = place[None, :].copy()
    X[:, 0] = to
    found = space.from_unit(moved(space, X, (0,))[0])
    reach = np.clip(1 - 2 * to, 0.1, 0.9)
    assert found["b"] + found["c"] == pytest.approx(reach, abs=1e-12)
    assert 0.1 <= found["b"] <= 0.4
    assert 0 <= found["c"] <= 0.5
    assert found["d"] == pytest.approx(2.0)


def test_other_equalities_move_as_little_as_possible() -> None:
    space = Space(
        {"x": Float(0, 1), "y": Float(0, 1), "z": Float(-1, 1)}, constraints=["x == y - z"]
    )
    found = moved(space, space.to_unit({"x": 0.5, "y": 0.5, "z": 0.5})[None, :], (0,))
    assert region_of(space).holds(found).all()  # type: ignore[union-attr]  # there are rules
    # in coordinates: the nearest point to (1/2, 3/4) with y - 2 z = -1/2, the widths being 1 and 2
    np.testing.assert_allclose(found[0, 1:], [0.6, 0.55], atol=1e-12)


def test_a_path_ends_where_the_rules_do() -> None:
    place = SYRUP.to_unit(SETTING)
    X = path_along(SYRUP, place, 0, np.linspace(0, 1, 41))
    held = holding(SYRUP, X)
    assert held is not None
    np.testing.assert_array_equal(held, all_hold(SYRUP, X))
    # sugar s, water (1 - s) 5/8: s = 5/16 (1 - s) at the end
    assert SYRUP.from_unit(X[held][-1])["sugar"] == pytest.approx(5 / 21, abs=1e-6)
    X = path_along(SYRUP, place, 3, np.linspace(0, 1, 41))
    held = holding(SYRUP, X)
    assert held is not None
    assert SYRUP.from_unit(X[held][-1])["temp"] == pytest.approx(66, abs=1e-6)
    np.testing.assert_allclose(X[:, :3], np.tile(place[:3], (len(X), 1)), atol=1e-12)


def test_slices_and_maps_know_where_rules_hold() -> None:
    space = Space(
        {"n": Int(0, 40), "hours": Ordinal([1, 2, 4, 8, 24]), "kind": Categorical(["a", "b"])},
        constraints=["n + hours <= 30", "hours >= 2 if kind == 'b'"],
    )
    place = space.to_unit({"n": 10, "hours": 1, "kind": "a"})
    for column in range(3):
        X = along(space, place, column)
        np.testing.assert_array_equal(holding(space, X), all_hold(space, X))
    X, shape = over(space, place, (0, 1))
    np.testing.assert_array_equal(holding(space, X), all_hold(space, X))
    covered = excluded(space, place, (0, 1))
    assert covered is not None
    assert covered.shape == (161, 161) != shape
    assert excluded(Space(space.dimensions), place, (0, 1)) is None


# triangles


def simplex(space: Space, place: np.ndarray, order: list[int] | None = None) -> Simplex:
    found = simplex_of(space, place, order or list(range(len(space))))
    assert found is not None
    return found


PARTS = {name: Float(0, 1) for name in "abcde"}
TRIANGLES: list[tuple[Space, dict[str, Any]]] = [
    (SYRUP, SETTING),
    (Space(PARTS, constraints=["a + b + c + d + e == 1"]), dict.fromkeys("abcde", 0.2)),
    (
        Space(
            PARTS, constraints=["a + b + c + d + e == 1", "a <= 0.1 or b <= 0.1", "a >= 0.5 * c"]
        ),
        {"a": 0.1, "b": 0.3, "c": 0.1, "d": 0.25, "e": 0.25},
    ),
    (
        Space(PARTS, constraints=["a + b + c + d + e == 1", "at most 3 of a, b, c, d, e"]),
        {"a": 0.0, "b": 0.3, "c": 0.0, "d": 0.3, "e": 0.4},
    ),
    (
        Space(
            {"a": Float(0, 50), "b": Float(10, 60), "c": Float(0, 100), "k": Int(0, 9)},
            constraints=["2*a + b + c == 100", "a + 3*k <= 30", "b - c <= 10 if k >= 2"],
        ),
        {"a": 10.0, "b": 30.0, "c": 50.0, "k": 3},
    ),
]


@pytest.mark.parametrize(("space", "params"), TRIANGLES)
def test_the_pieces_are_where_the_rules_hold(space: Space, params: dict[str, Any]) -> None:
    place = space.to_unit(params)
    found = simplex(space, place)
    rng = np.random.default_rng(0)
    drawn = rng.dirichlet(np.ones(3), 400)
    across, up = drawn[:, 2] + drawn[:, 0] / 2, drawn[:, 0]
    X = np.tile(place, (400, 1))
    X[:, found.columns] = found.units(across, up)
    inside = np.all((X >= 0) & (X <= 1), axis=1)
    held = inside & all_hold(space, np.clip(X, 0, 1))
    assert np.sum(held) > 20
    np.testing.assert_array_equal(found.inside(across, up), held)
    # and back: the shares of such points, in the picture
    back = found.picture(found.shares(X[held]))
    np.testing.assert_allclose(np.stack(back), np.stack([across[held], up[held]]), atol=1e-9)
    for piece in found.pieces:
        x, y = found.picture(piece)
        assert np.all((y > -1e-9) & (x - y / 2 > -1e-9) & (x + y / 2 < 1 + 1e-9))


def test_the_parts_that_matter_most_are_drawn() -> None:
    space = Space(PARTS, constraints=["a + b + c + d + e == 1"])
    place = np.full(5, 0.2)
    assert simplex(space, place, [4, 1, 0, 2, 3]).columns == (0, 1, 4)
    assert simplex(space, place, [3, 2, 1, 0, 4]).total == pytest.approx(0.6)
    # with at most three parts the others of the setting must be those that are drawn
    rules = ["a + b + c + d + e == 1", "at most 3 of a, b, c, d, e"]
    few = Space(PARTS, constraints=rules)
    setting = few.to_unit({"a": 0.0, "b": 0.3, "c": 0.0, "d": 0.3, "e": 0.4})
    assert simplex(few, setting, [0, 1, 2, 3, 4]).columns == (1, 3, 4)


def test_a_small_part_of_the_triangle_is_enlarged() -> None:
    space = Space(
        {"a": Float(0.4, 0.402), "b": Float(0.3, 0.301), "c": Float(0, 1)},
        constraints=["a + b + c == 1"],
    )
    found = simplex(space, space.to_unit({"a": 0.401, "b": 0.3005, "c": 0.2985}))
    corners = np.concatenate([np.stack(found.picture(piece), axis=1) for piece in found.pieces])
    assert np.all(np.ptp(corners, axis=0) > 0.3)


@pytest.mark.parametrize(
    "constraints",
    [
        ["a + b == 1"],
        ["a + b + c <= 1"],
        ["a + b - c == 0"],
        ["a + b + c == 1", "a == b"],
        ["a + b + c == 1", "at most 2 of a, b, c"],
        ["a + b + c == 1 if k == 3"],
        ["a + b + k == 3"],
        [],
    ],
)
def test_what_is_no_triangle(constraints: list[str]) -> None:
    dimensions = {"a": Float(0, 1), "b": Float(0, 1), "c": Float(0, 1), "k": Int(0, 3)}
    space = Space(dimensions, constraints=constraints)
    assert simplex_of(space, np.full(4, 0.5), [0, 1, 2, 3]) is None


# importance


def surface(space: Space, f: Any, count: int = 150) -> Any:
    """A model of a known function on points at which the rules hold."""
    region = region_of(space)
    assert region is not None
    X = region.sample(count, np.random.default_rng(1))
    return fit_gp(X, np.array([f(x) for x in X]), 1e-8).gp


def test_importance_within_rules_of_independent_parameters() -> None:
    dimensions = {name: Float(0, 1) for name in "abcxy"}
    space = Space(dimensions, constraints=["a + b + c == 1"])
    found = importance(surface(space, lambda x: x[3] + 2 * x[4]), space)
    # nothing ties x and y: as without rules, 1/5 and 4/5 of the variance
    np.testing.assert_allclose(found.total, [0, 0, 0, 0.2, 0.8], atol=0.06)
    np.testing.assert_allclose(found.alone, found.total, atol=0.06)


def test_importance_of_a_part_of_a_mixture() -> None:
    space = Space({name: Float(0, 1) for name in "abc"}, constraints=["a + b + c == 1"])
    found = importance(surface(space, lambda x: x[0]), space)
    # half of squared differences of 512 pairs, over the variance: within about 0.05
    assert found.alone[0] > 0.85
    assert found.order.tolist()[0] == 0
    # a moves when b does: b explains half as much as correlation of -1/2 says, squared
    assert found.alone[1] == pytest.approx(0.25, abs=0.08)


@given(st.integers(0, 50))
@settings(max_examples=8, deadline=None)
def test_points_that_break_rules_do_not_count(seed: int) -> None:
    space = Space({"x": Float(0, 1), "y": Float(0, 1)}, constraints=["x + y <= 0.5"])
    gp = surface(space, lambda x: 10 * max(0, x[0] + x[1] - 0.5) + x[0], 60)
    found = importance(gp, space, seed)
    assert found.total[0] > 3 * found.total[1]


def test_every_combination_of_rules_gives_finite_shares() -> None:
    rules = ["a + b + c == 1", "a <= 0.5 * b", "n <= 2 if kind == 'x'", "at most 2 of a, b, c"]
    dimensions = {"a": Float(0, 1), "b": Float(0, 1), "c": Float(0, 1), "n": Int(0, 3)}
    kinds = {"kind": Categorical(["x", "y"])}
    for count in (1, 2, 3):
        for chosen in itertools.combinations(rules, count):
            space = Space({**dimensions, **kinds}, constraints=list(chosen))
            found = importance(surface(space, lambda x: x[0] + x[3], 40), space)
            assert np.all((found.total >= found.alone) & (found.total <= 1))
