"""Where a space with rules is searched, and settings that obey the rules to the last digit."""

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ceibo import acquisition as acq
from ceibo.acquisition.cube import within
from ceibo.acquisition.region import EmptyRegionError, Region
from ceibo.decide.dimensions import Float
from ceibo.decide.holding import Held, hold
from ceibo.decide.rules import columns_of, first_broken, requirements_of
from ceibo.decide.space import Params, Space
from ceibo.errors import InputError
from ceibo.gp.inputs import Array, Mask

_KEPT: Final = 16  # regions kept for the next suggestion of the same space
_TRIED: Final = 64  # points tried where one cannot be written down in the user's units
_MOST_DROPPED: Final = 20  # rules left out by turns to find those that exclude one another
_made: OrderedDict[str, Region] = OrderedDict()


def region_of(space: Space, fixed: Mapping[str, object] | None = None) -> Region | None:
    """Where a space is searched while some parameters are held; None if it has no rules."""
    return region_in(hold(space, fixed))


def region_in(held: Held) -> Region | None:
    """The same for parameters that are held already."""
    space = held.space
    if not space.rules:
        return None
    # A region keeps what it has worked out; it is the same for the same space, whoever asks.
    key = repr((space, held.values))
    if key not in _made:
        made = _checked(held)
        if len(_made) >= _KEPT:
            _made.pop(next(iter(_made)), None)
        _made[key] = made
    return _made[key]


def settle(held: Held, x: Array) -> Params:
    """The parameters at a point (d,) of the search, such that every rule holds in their units.

    What rounding has broken is mended; a point that cannot be written down gives way to another.
    """
    params = held.params(x)
    region = region_in(held)
    if region is None:
        return params
    params = _balanced(held, params, region.equalities(x))
    if first_broken(held.space.rules, params) is None:
        return params
    rounded = _on_grids(held, x)
    if rounded is not None:
        return rounded
    others = region.sample(_TRIED, np.random.default_rng(0))
    for place in np.argsort(((others - x) ** 2).sum(axis=1), kind="stable"):
        params = held.params(others[place])
        if first_broken(held.space.rules, params) is None:
            return params
        found = _on_grids(held, others[place])
        if found is not None:
            return found
    texts = " and ".join(repr(text) for text in held.space.constraints)
    raise InputError(
        f"no setting was found that obeys {texts} in the digits of the parameters; widen a rule or"
        " a step."
    )


def maximize_in(
    held: Held, function: acq.Surface[Any], seed: int, guides: Sequence[acq.Guide] = ()
) -> acq.Maximum:
    """Where a surface is largest over the settings with the held values, and its value there."""
    return acq.maximize(
        function,
        seed=seed,
        discrete=held.discrete,
        guides=guides,
        branches=held.space.branches,
        region=region_in(held),
    )


def admissible(held: Held, X: Array) -> Mask:
    """Which points (N, d) are settings of the space with the held values that obey its rules."""
    region = region_in(held)
    inside = held.has(X)
    return inside if region is None else inside & region.holds(X)


def obeying(space: Space, X: Array) -> Mask | None:
    """Which points (N, d) of the unit cube obey the rules of a space.

    None where there are no rules, or no such point.
    """
    region = region_of(space)
    if region is None:
        return None
    found = within(X) & region.holds(X)
    return found if found.any() else None


def _balanced(held: Held, params: Params, equalities: Sequence[tuple[Array, float]]) -> Params:
    """The parameters with what rounding left of each equality given to the one it matters least to.

    That is the continuous one on an even scale with the widest share in the sum.
    """
    names = held.space.names
    params = dict(params)
    for coefficients, total in [*equalities, *equalities]:
        terms = {names[k]: float(coefficients[k]) for k in np.flatnonzero(coefficients)}
        rest = total - math.fsum(c * params[name] for name, c in terms.items())
        reach = {
            name: abs(c) * (each.high - each.low)
            for name, c in terms.items()
            if isinstance(each := held.space.dimensions[name], Float)
            and not each.log
            and each.step is None
            and name not in held.values
            and params[name] not in (0.0, each.low, each.high)
            and each.low <= params[name] + rest / c <= each.high
        }
        if rest and reach:
            name = max(reach, key=reach.__getitem__)
            params[name] += rest / terms[name]
    return params


def _on_grids(held: Held, x: Array) -> Params | None:
    """The point with parameters on long grids rounded one after another, the others following."""
    space = held.space
    names = [
        name
        for name, each in space.dimensions.items()
        if each.levels and each.coordinates is None and name not in held.values
    ]
    for name in names:
        params = held.params(x)
        if name not in params:
            continue
        held = Held(space, {**held.values, name: params[name]})
        try:
            x = _built(held).restore(x[None, :])[0]
        except EmptyRegionError:
            return None
    params = held.params(x)
    return params if first_broken(space.rules, params) is None else None


def _built(held: Held) -> Region:
    space = held.space
    requirements = requirements_of(space.rules, space.dimensions)
    return Region(columns_of(space.dimensions), held.discrete, requirements, space.branches)


def _checked(held: Held) -> Region:
    """The region, which has a point; an error names the rules that leave none."""
    region = _built(held)
    try:
        region.sample(1, np.random.default_rng(0))
    except EmptyRegionError as error:
        rules = " and ".join(repr(text) for text in _conflicting(held))
        if held.values:
            fixed = ", ".join(f"{name} = {value!r}" for name, value in held.values.items())
            raise InputError(
                f"fixed: no setting with {fixed} obeys {rules}; hold another value."
            ) from error
        raise InputError(
            f"no setting of the space obeys {rules}; change or leave out one."
        ) from error
    return region


def _conflicting(held: Held) -> list[str]:
    """The rules that leave no point together, without those that are not needed for that."""
    kept = list(held.space.constraints)
    for text in held.space.constraints[:_MOST_DROPPED]:
        fewer = [each for each in kept if each != text]
        try:
            space = Space(held.space.dimensions, constraints=fewer)
            if fewer:
                _built(Held(space, held.values)).sample(1, np.random.default_rng(0))
        except EmptyRegionError:
            kept = fewer
    return kept
