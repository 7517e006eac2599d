"""The syntax tree of a rule, before anything is known of its names."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import final


class Kind(StrEnum):
    """What a node is; `value` and `parts` of each."""

    NUMBER = "number"  # value: as written
    NAME = "name"  # value: the parameter
    WORD = "word"  # value: a text, True, False or None
    LIST = "list"  # parts: what stands between parentheses and commas
    SUM = "sum"  # parts; value: a sign + or - for each
    PRODUCT = "product"  # parts; value: a sign * or / for each, the first *
    COMPARISON = "comparison"  # parts; value: a sign between each two
    MEMBER = "member"  # parts: a name and a list; value: "in" or "not in"
    COUNT = "count"  # parts: names; value: the least and the most, or None for no limit
    NOT = "not"
    AND = "and"
    OR = "or"
    IF = "if"  # parts: what must hold, and when


NodeValue = str | bool | None | tuple[str, ...] | tuple[int, int | None]


@final
@dataclass(frozen=True)
class Node:
    """A piece of a rule, from `start` to before `end` in its text."""

    kind: Kind
    start: int
    end: int
    parts: tuple["Node", ...] = ()
    value: NodeValue = None


def names_in(node: Node) -> Iterator[str]:
    """The names in a tree, in the order of the text."""
    if node.kind is Kind.NAME:
        yield str(node.value)
    for part in node.parts:
        yield from names_in(part)
