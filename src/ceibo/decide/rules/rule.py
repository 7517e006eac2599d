"""`Rule`: what a text says about the parameters of a space."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

from ceibo.acquisition.region.terms import Branch, Requirement
from ceibo.decide.dimensions import Dimension
from ceibo.decide.rules.alternatives import Compiler
from ceibo.decide.rules.conditions import TOLERANCE, Condition, conjuncts
from ceibo.decide.rules.exemptions import exempt
from ceibo.decide.rules.fault import subject_of
from ceibo.decide.rules.feasible import is_possible
from ceibo.decide.rules.grammar import parse
from ceibo.decide.rules.linear import Scope
from ceibo.decide.rules.reading import read
from ceibo.decide.rules.tree import names_in
from ceibo.errors import InputError, show_value

MOST_RULES: Final = 200
LONGEST_RULE: Final = 2_000
"""The most characters of a rule."""


@final
@dataclass(frozen=True)
class Rule:
    """A rule between the parameters of a space, as it was written."""

    text: str
    names: tuple[str, ...] = field(repr=False, compare=False)
    """The parameters that it depends on, each once, in the order of the text."""
    condition: Condition = field(repr=False, compare=False)

    def violation(self, params: Mapping[str, Any]) -> float:
        """By how much checked parameters break it, in units of its scale; 0 if they hold it.

        What is broken by a choice or a count is broken by one or more. A rule that names a
        parameter which does not exist in this setting does not apply to it.
        """
        if any(name not in params for name in self.names):
            return 0.0
        return self.condition.violation(params)

    def holds(self, params: Mapping[str, Any]) -> bool:
        """Whether checked parameters hold it, to 1e-9 of its scale; exactly where all are levels.

        A strict comparison is broken by what is equal.
        """
        return self.violation(params) <= TOLERANCE

    def compiled(self, compiler: Compiler, place: int) -> tuple[Requirement, ...]:
        """What it asks of a region over the columns of the compiler's dimensions, in their order.

        `place` is kept with each requirement; one without an alternative cannot be held. What every
        setting of the box holds is left out.
        """
        found = []
        # where one of these does not exist, no part of the rule applies
        conditional = tuple(
            compiler.places[name]
            for name in self.names
            if compiler.dimensions[name].when is not None
        )
        for part in conjuncts(self.condition):
            try:
                ways = compiler.alternatives(part)
            except InputError as error:
                raise InputError(f"{subject_of(self.text)}: {error}") from None
            if () not in ways:
                found.append(Requirement(tuple(ways), place, conditional))
        return tuple(found)


def parse_rules(
    texts: Sequence[str], dimensions: Mapping[str, Dimension], branches: Sequence[Branch] = ()
) -> tuple[Rule, ...]:
    """The rules that texts are; the first that is wrong, or cannot hold, is an error.

    `branches` say which dimensions exist only sometimes, by columns.
    """
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        example = '["a + b <= 1"]'
        raise InputError("constraints", f"a list of texts, as in {example}", show_value(texts))
    listed = list(texts)
    if len(listed) > MOST_RULES:
        raise InputError("constraints", f"at most {MOST_RULES} rules", str(len(listed)))
    rules = tuple(_rule(text, dimensions) for text in listed)
    _check_possible(rules, dimensions, branches)
    return rules


def requirements_of(
    rules: Sequence[Rule], dimensions: Mapping[str, Dimension]
) -> tuple[Requirement, ...]:
    """What rules ask of a region; `rule` of each requirement is the rule's place."""
    compiler = Compiler(dimensions)
    found = (rule.compiled(compiler, place) for place, rule in enumerate(rules))
    return tuple(each for several in found for each in several)


def first_broken(rules: Sequence[Rule], params: Mapping[str, Any]) -> Rule | None:
    """The first rule that checked parameters break, or None."""
    return next((rule for rule in rules if not rule.holds(params)), None)


def _check_possible(
    rules: Sequence[Rule], dimensions: Mapping[str, Dimension], branches: Sequence[Branch]
) -> None:
    """Refuses a rule that cannot hold in the box, and rules that exclude one another."""
    compiler = Compiler(dimensions)
    asked = [rule.compiled(compiler, place) for place, rule in enumerate(rules)]
    for rule, each in zip(rules, asked, strict=True):
        empty = not all(requirement.alternatives for requirement in each)
        if empty or not is_possible(each, compiler.columns):
            ranges = "; ".join(f"{name}: {dimensions[name].describe()}" for name in rule.names)
            raise InputError(
                f"{subject_of(rule.text)} cannot hold for any setting of the space ({ranges});"
                " change the rule or the ranges."
            )
    where = [[compiler.places[name] for name in rule.names] for rule in rules]
    softer = [exempt(*each, branches, dimensions) for each in zip(asked, where, strict=True)]

    def agree(chosen: Sequence[int]) -> bool:
        return is_possible([each for k in chosen for each in softer[k]], compiler.columns)

    kept = list(range(len(rules)))
    if len(rules) > 1 and not agree(kept):
        for place in range(len(rules)):  # what is not needed for the contradiction goes
            fewer = [other for other in kept if other != place]
            if not agree(fewer):
                kept = fewer
        named = " and ".join(subject_of(rules[place].text) for place in kept)
        raise InputError(f"{named} cannot hold together in the space; change or leave out one.")


def _rule(text: object, dimensions: Mapping[str, Dimension]) -> Rule:
    if not isinstance(text, str):
        raise InputError("constraints", "rules as texts, such as 'a + b <= 1'", show_value(text))
    written = text.strip()
    if not written:
        raise InputError("constraints", "a rule, such as 'a + b <= 1'", "an empty text")
    if len(written) > LONGEST_RULE:
        got = f"{len(written):,} characters"
        wanted, advice = f"at most {LONGEST_RULE:,} characters", "split it into several rules"
        raise InputError(subject_of(written), wanted, got, advice)
    tree = parse(written, dimensions)
    condition = read(tree, Scope(written, dimensions))
    named = dict.fromkeys(names_in(tree))
    return Rule(written, tuple(each for each in named if each in condition.names), condition)
