"""Random spaces, and random changes of them that a study accepts."""

import random
from typing import Any

from ceibo import Categorical, Float, Int, Space
from ceibo.decide.space import Params

_CHOICES = tuple("abcdefgh")
_MOST = 5  # parameters


def random_space(generator: random.Random) -> Space:
    """A space of two to four parameters, one of them categorical."""
    space: dict[str, Any] = {"kind": Categorical(generator.sample(_CHOICES, 3))}
    for _ in range(generator.randint(1, 3)):
        space[f"p{len(space)}"] = _dimension(generator)
    return Space(space)


def _dimension(generator: random.Random) -> Float | Int:
    low = generator.randint(1, 20)
    if generator.random() < 0.3:
        return Int(low, low + generator.randint(2, 30))
    log = generator.random() < 0.3
    step = None if log or generator.random() < 0.7 else 1.0
    return Float(low, low + generator.randint(4, 40), log=log, step=step)


def random_change(space: Space, generator: random.Random) -> tuple[Space, Params]:
    """Another space, and the values that its new parameters had before."""
    dimensions: dict[str, Any] = dict(space.dimensions)
    before: Params = {}
    for name, each in space.dimensions.items():
        if generator.random() < 0.6:
            dimensions[name] = _changed(each, generator)
    if len(space) < _MOST and generator.random() < 0.3:
        name = f"p{len(space)}"
        dimensions[name] = _dimension(generator)
        before[name] = dimensions[name].from_unit(generator.random())
    numbers = [name for name, each in dimensions.items() if isinstance(each, Float)]
    rules = []
    if len(numbers) >= 2 and generator.random() < 0.25:
        one, two = (dimensions[name] for name in numbers[:2])
        most = 0.3 * (one.low + two.low) + 0.7 * (one.high + two.high)
        rules.append(f"{numbers[0]} + {numbers[1]} <= {most!r}")
    return Space(dimensions, constraints=rules), before


def _changed(dimension: Any, generator: random.Random) -> Any:
    """The dimension with a wider or narrower range, or other choices."""
    if isinstance(dimension, Categorical):
        choices = list(dimension.choices)
        if len(choices) > 2 and generator.random() < 0.6:
            choices.remove(generator.choice(choices))
        unused = [each for each in _CHOICES if each not in choices]
        if unused and generator.random() < 0.6:
            choices.insert(generator.randrange(len(choices) + 1), generator.choice(unused))
        return Categorical(choices)
    width = dimension.high - dimension.low
    low = max(1, round(dimension.low + width * generator.uniform(-0.5, 0.3)))
    high = low + max(3, round(width * generator.uniform(0.5, 1.6)))
    if isinstance(dimension, Int):
        return Int(low, high)
    log = dimension.log if generator.random() < 0.8 else not dimension.log
    step = None if log else generator.choice([None, None, 0.5, 1.0])
    return Float(low, high, log=log, step=step)
