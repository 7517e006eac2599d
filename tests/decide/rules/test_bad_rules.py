"""The laboratory of bad rules: each is refused by a sentence that says where and what to try."""

import random

import pytest

from ceibo.decide import Categorical, Float, Int
from ceibo.decide.dimensions import Dimension
from ceibo.decide.rules import Rule, parse_rules
from ceibo.decide.rules.rule import LONGEST_RULE, MOST_RULES
from ceibo.errors import InputError
from tests.decide.rules import rule_texts

DIMENSIONS: dict[str, Dimension] = {
    "a": Float(0, 0.6),
    "b": Float(0, 1),
    "c": Float(0, 1),
    "rate": Float(1e-5, 1, log=True),
    "wide": Float(-1e308, 1e308),
    "n": Int(0, 10),
    "solvent": Categorical(["THF", "DMF", "water"]),
    "base": Categorical(["NaH", True, 1]),
    "flow rate": Float(0, 1),
}
LAB = {
    # signs
    "a + b = 1": "got '=' at character 7; write == for equal",
    "a =< 1": "write <= for at most",
    "a => 1": "write >= for at least",
    "a <> 1": "write !=",
    "a < 1 && b < 1": "got '&&' at character 7; write and",
    "a < 1 || b < 1": "write or",
    "!(a < 1)": "write not",
    "a ** 2 <= 1": "powers are not part of rules",
    "a ^ 2 <= 1": "powers are not part of rules",
    "a // 2 <= 1": "whole-number division",
    "a <= 50%": "write 0.5 for 50 %",
    "a <= 1; b <= 1": "got ';' at character 7",
    "a <= 0,5": "write decimals with a point",
    "solvent == ‘THF’": "straight quotes",
    # what does not end
    "(a + b <= 1": "expected a ) for the ( at character 1, got the end of the rule",
    "a + b <= 1)": "there is no ( for this )",
    "solvent == 'THF": "that ends with ', got \"'THF\" at character 12; close it",
    "`flow rate <= 1": "that ends with `",
    "a <=": "expected a number, a name or a text in quotes, got the end of the rule",
    "a <= 1 and": "got the end of the rule",
    "a <= 1 if": "got the end of the rule",
    "a in ()": "got ')' at character 7",
    # names
    "x + b <= 1": "expected a parameter of the space (a, b, c, rate",
    "solvnt == 'THF'": "got 'solvnt' at character 1; did you mean 'solvent'?",
    "flow rate <= 1": "stands in backquotes, as in `flow rate`",
    "flow <= 1": "stands in backquotes, as in `flow rate`",
    "a <= inf": "numbers are finite",
    "a <= nan": "numbers are finite",
    "2a <= 1": "write 2 * a",
    "a <= 0.5 b": "write 0.5 * b",
    "sin(a) <= 1": "got 'sin(' at character 1; functions are not part of rules",
    # numbers
    "a <= 1e400": "expected a number below 1e150, got '1e400' at character 6",
    "a >= 1e-400": "expected zero or a number above 1e-150",
    "1e149 * 1e149 * a <= 1": "expected numbers between 1e-150 and 1e150",
    "a / 1e149 / 1e149 <= 1": "expected numbers between 1e-150 and 1e150",
    "wide <= 1": "expected a parameter with values below 1e150",
    "a / 0 <= 1": "other than zero to divide by, got '0' at character 5",
    # not linear
    "a * b <= 1": "got 'a * b' at character 1; a product of two parameters is not linear",
    "a * (b + 1) <= 1": "a product of two parameters",
    "a / b <= 1": "multiply both sides by it",
    "(a <= 1) + b <= 1": "got '(a <= 1)' at character 1; conditions are joined by and",
    # words among numbers
    "solvent + a <= 1": "'solvent' is one of THF, DMF, water",
    "a + 'x' <= 1": "a text, True, False or None is compared by ==",
    "a == True": "a text, True, False or None is compared by ==",
    "solvent <= 3": "'solvent' has no order",
    "solvent > 'DMF'": "'solvent' has no order",
    "solvent == 'thf'": "got \"'thf'\" at character 12; did you mean 'THF'?",
    "solvent in ('THF', 'MeOH')": "expected a choice of 'solvent' ('THF', 'DMF', 'water')",
    "solvent == THF": "put it in quotes: 'THF'",
    "solvent == base": "not with another parameter",
    "base == 1.0": "the type counts too, did you mean 1?",
    "solvent == ('THF', 'DMF')": "expected a choice of 'solvent'",
    "solvent in a": "expected values in parentheses",
    "a + b in (1, 2)": "expected a parameter before in",
    # no condition
    "a": "expected a comparison",
    "a + b": "expected a comparison, as in a + b <= 1, got 'a + b'",
    "not a": "got 'a' at character 5",
    "base": "write base == True",
    "solvent": "write solvent == 'THF'",
    "1": "expected a comparison",
    "True": "expected a comparison",
    "'a <= 1'": "expected a comparison",
    "a <= 1 if b": "got 'b' at character 11",
    # forms
    "if a <= 1 then b <= 1": "expected what must hold first",
    "a <= 1 if b <= 1 else c <= 1": "write two rules",
    "a <= 1 if b <= 1 if c <= 1": "join the conditions by and",
    "a < b, c": "lists in parentheses",
    "a b": "expected an operator between two names",
    # constants
    "1 <= 2": "the same for all settings",
    "a - a <= 1": "the same for all settings",
    "0 * a + 1 == 1": "the same for all settings",
    "a <= 0.5 if 1 == 1": "got '1 == 1' at character 13",
    # counts
    "at most 3 of a, b": "expected a number of at most 2",
    "at most 2 of a, b": "every setting holds it",
    "at least 0 of a, b": "every setting holds it",
    "at least 3 of a, b": "expected a number of at most 2",
    "between 2 and 1 of a, b, c": "expected the smaller number first",
    "at most two of a, b": "expected a whole number of parameters, got 'two'",
    "at most 1.5 of a, b": "expected a whole number of parameters",
    "at most 1 of a, a": "expected each parameter once",
    "at most 1 of a and b": "names are separated by commas",
    "at most 1 of a, 2": "expected a name of a parameter",
    "at most 1 of a b": "an operator between two names",
    "at most 1 of rate, a": "give it a low of 0, or leave it out",
    "at most 1 of solvent, a": "expected a parameter with numbers to count",
    "at most 1 a, b": "expected of, as in at most 2 of a, b, c",
    "between 1 of a, b": "expected and, as in between 1 and 3",
    # what cannot hold
    "a > 0.7": "cannot hold for any setting of the space (a: float from 0 to 0.6)",
    "a + b >= 1.7": "cannot hold",
    "a < 0": "cannot hold",
    "2 * n == 5": "cannot hold for any setting of the space (n: int from 0 to 10)",
    "2 * n + 4 * n == 5": "cannot hold",
    "solvent == 'THF' and solvent == 'DMF'": "cannot hold",
    "a + b <= 0.2 and a >= 0.1 and b >= 0.15": "cannot hold",
    "a + b + c == 1 and at most 1 of a, b, c and a >= 0.1 and b >= 0.1": "cannot hold",
}


@pytest.mark.parametrize("text", LAB)
def test_a_bad_rule_is_refused_by_a_sentence(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_rules([text], DIMENSIONS)
    said = str(caught.value)
    assert LAB[text] in said
    assert said.startswith("rule ")
    assert text in said.replace("\\'", "'").replace('\\"', '"')
    assert said.endswith((".", "?"))


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_rule_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="got an empty text"):
        parse_rules([text], DIMENSIONS)


def test_what_is_no_list_of_texts_is_refused() -> None:
    for given in ("a <= 1", 3, None):
        with pytest.raises(InputError, match="expected a list of texts"):
            parse_rules(given, DIMENSIONS)  # type: ignore[arg-type]  # as a user might
    for member in (None, 3, ["a <= 1"]):
        with pytest.raises(InputError, match="expected rules as texts"):
            parse_rules([member], DIMENSIONS)  # type: ignore[list-item]  # as a user might


def test_absurd_lengths_and_depths_are_refused_at_once() -> None:
    with pytest.raises(InputError, match=f"at most {LONGEST_RULE:,} characters"):
        parse_rules(["a + " * LONGEST_RULE + "a <= 1"], DIMENSIONS)
    with pytest.raises(InputError, match=f"at most {MOST_RULES} rules, got 201"):
        parse_rules(["a <= 0.5"] * 201, DIMENSIONS)
    for deep in ("(" * 900 + "a", "not " * 400 + "a <= 1", "-" * 900 + "a <= 1"):
        with pytest.raises(InputError, match="at most 50 parentheses, signs and not"):
            parse_rules([deep], DIMENSIONS)
    long = " + ".join(["a"] * 450)
    (rule,) = parse_rules([f"{long} <= 45"], DIMENSIONS)
    assert rule.holds({"a": 0.1})
    assert not rule.holds({"a": 0.11})
    many = " or ".join(f"a + b == {k / 100}" for k in range(70))
    with pytest.raises(InputError, match="more than 64 alternatives; split it"):
        parse_rules([many], DIMENSIONS)
    wide = " and ".join(f"(a == {k / 100} or b == {k / 50})" for k in range(30))
    with pytest.raises(InputError, match=r"more than 64 alternatives|cannot hold"):
        parse_rules([f"not ({wide}) or c == 0 if not ({wide})"], DIMENSIONS)


@pytest.mark.parametrize(
    ("texts", "named", "innocent"),
    [
        (["a + b == 1", "c <= 0.5", "a + b >= 1.2"], ["a + b == 1", "a + b >= 1.2"], "c <= 0.5"),
        (["solvent == 'THF'", "n > 2", "solvent != 'THF'"], ["== 'THF'", "!= 'THF'"], "n > 2"),
        (
            ["a >= 0.5 if solvent == 'THF'", "a <= 0.4", "solvent == 'THF'", "b <= 0.5"],
            ["a >= 0.5 if", "a <= 0.4", "rule \"solvent == 'THF'\""],
            "b <= 0.5",
        ),
        (
            ["a + b + c == 1", "at most 1 of a, b, c", "a >= 0.2", "n <= 3"],
            ["a + b + c == 1", "at most 1", "a >= 0.2"],
            "n <= 3",
        ),
        (["n + a == 2.5", "a == 0.25", "n >= 1"], ["n + a == 2.5", "a == 0.25"], "n >= 1"),
    ],
)
def test_rules_that_contradict_each_other_are_named(
    texts: list[str], named: list[str], innocent: str
) -> None:
    with pytest.raises(InputError, match="cannot hold together") as caught:
        parse_rules(texts, DIMENSIONS)
    assert all(each in str(caught.value) for each in named)
    assert innocent not in str(caught.value)


WORDS = (
    *("a", "b", "n", "solvent", "`flow rate`", "x", "1", "0.5", "1e999", "'THF'", '"', "'", "`"),
    *("+", "-", "*", "/", "(", ")", ",", "<=", ">=", "==", "!=", "<", ">", "=", "&", "[", "]"),
    *("and", "or", "not", "in", "if", "else", "at", "most", "least", "exactly", "between", "of"),
    *("True", "None", "\\", "é", "\x00", "≤", "−", "2", "at most 1 of a, b", "a <= 0.5"),
)


def soup(rng: random.Random) -> str:
    """Words in a row, or a rule with some of its words changed."""
    if rng.random() < 0.5:
        space = rng.choice(["", " ", " "])
        return space.join(rng.choices(WORDS, k=rng.choice([2, 4, 8, 12, 60])))
    words = rule_texts.rule(rng)[0].split(" ")
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(words))
        words[place] = rng.choice([*WORDS, words[place], ""])
    return " ".join(words)


def test_soups_of_words_are_rules_or_errors() -> None:
    rng, rules = random.Random(0), 0
    dimensions = {**DIMENSIONS, **rule_texts.DIMENSIONS}
    for _ in range(4_000):
        found = rule_texts.rule_or_refusal(soup(rng), dimensions)
        assert isinstance(found, Rule) or found.endswith((".", "?"))
        rules += isinstance(found, Rule)
    assert rules > 50  # not all of it was refused
