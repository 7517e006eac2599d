"""Random rules with what they mean in Python, and random settings on which they often touch.

All numbers are multiples of 1/8, so that sums in doubles are exact and ties are ties.
"""

import random
from collections.abc import Mapping
from typing import Any

from ceibo.decide import Categorical, Float, Int
from ceibo.decide.dimensions import Dimension
from ceibo.decide.rules import Rule, parse_rules
from ceibo.errors import InputError

DIMENSIONS: dict[str, Dimension] = {
    "a": Float(0, 1),
    "b": Float(-1, 1),
    "c": Float(0, 2),
    "rate": Float(0.125, 8, log=True),
    "temp": Float(0, 2, step=0.25),
    "n": Int(0, 4),
    "m": Int(1, 6, log=True),
    "solvent": Categorical(["THF", "DMF", "water"]),
    "base": Categorical(["NaH", "K"]),
}
NUMBERS = ("a", "b", "c", "rate", "temp", "n", "m")
CAN_BE_ZERO = ("a", "b", "c", "temp", "n")
Texts = tuple[str, str]  # the rule, and the same in Python


def setting(rng: random.Random) -> dict[str, Any]:
    """Values of all parameters."""
    found: dict[str, Any] = {}
    for name, each in DIMENSIONS.items():
        if each.listed is not None:
            found[name] = rng.choice(each.listed)
        elif isinstance(each, Int):
            found[name] = rng.randint(each.low, each.high)
        elif isinstance(each, Float):
            step = 2 if each.step is not None else 1
            low, high = round(each.low * 8 / step), round(each.high * 8 / step)
            found[name] = rng.randint(low, high) * step / 8
    return found


def rule(rng: random.Random) -> Texts:
    """A rule of any form."""
    if rng.random() < 0.3:
        (must, must_), (when, when_) = condition(rng, 1), condition(rng, 2)
        return f"{must} if {when}", f"(({must_}) if ({when_}) else True)"
    return condition(rng, 2)


def condition(rng: random.Random, depth: int) -> Texts:
    kind = rng.choice(["compare", "compare", "chain", "choice", "member", "count", "join", "not"])
    if depth and kind == "join":
        word = rng.choice(["and", "or"])
        parts = [condition(rng, depth - 1) for _ in range(rng.randint(2, 3))]
        return tuple(f" {word} ".join(f"({each[k]})" for each in parts) for k in (0, 1))  # type: ignore[return-value]  # two texts
    if depth and kind == "not":
        inner, inner_ = condition(rng, depth - 1)
        return f"not ({inner})", f"not ({inner_})"
    if kind == "count":
        return count(rng)
    if kind == "choice":
        sign = rng.choice(["==", "!="])
        return _twice(f"solvent {sign} '{rng.choice(['THF', 'DMF', 'water'])}'")
    if kind == "member":
        word = rng.choice(["in", "not in"])
        return _twice(rng.choice([f"solvent {word} ('THF', 'DMF')", f"n {word} (1, 3)"]))
    signs = [rng.choice(["<=", ">=", "<", ">", "==", "!="])]
    if kind == "chain":
        signs = [rng.choice(["<=", "<"]) for _ in range(2)]
    text = linear(rng)
    for sign in signs:
        text += f" {sign} {linear(rng)}"
    return _twice(text)


def count(rng: random.Random) -> Texts:
    names = rng.sample(CAN_BE_ZERO, rng.randint(2, 4))
    listed = ", ".join(names)
    counted = f"sum(v != 0 for v in ({listed}))"
    k = rng.randint(1, len(names) - 1)
    return rng.choice(
        [
            (f"at most {k} of {listed}", f"{counted} <= {k}"),
            (f"at least {k} of {listed}", f"{counted} >= {k}"),
            (f"exactly {k} of {listed}", f"{counted} == {k}"),
            (f"between 1 and {k} of {listed}", f"1 <= {counted} <= {k}"),
        ]
    )


def linear(rng: random.Random) -> str:
    """A sum of terms, some in parentheses."""
    terms = []
    for _ in range(rng.randint(1, 3)):
        name, number = rng.choice(NUMBERS), rng.choice(["2", "0.5", ".25", "1.5", "1e0"])
        forms = [name, f"{number} * {name}", f"{name} * {number}", f"{name} / 2", number]
        forms += [f"-{name}", f"2 * ({name} - {number})", f"-(1 - {name}) / 4"]
        terms.append(rng.choice(forms))
    text = terms[0]
    for term in terms[1:]:
        text += f" {rng.choice('+-')} {term}"
    return text


def _twice(text: str) -> Texts:
    return text, text


def rule_or_refusal(text: str, dimensions: Mapping[str, Dimension]) -> Rule | str:
    """The rule that a text is, or the sentence that refuses it."""
    try:
        (rule,) = parse_rules([text], dimensions)
    except InputError as error:
        return str(error)
    return rule
