"""The effects of blocks, as people read them."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from typing import final

from ceibo.attached import Shown
from ceibo.dates import is_day, to_date
from ceibo.decide.block_names import DEFAULT_KIND, Block, usual_kinds, why_unusual
from ceibo.decide.effects import BlockEffect
from ceibo.numbers import rounded, with_uncertainty
from ceibo.study.trial import Trial
from ceibo.text import one_line, plural


@final
class Blocks(tuple[BlockEffect, ...], Shown):
    """The effect of every block of a study, by kind, in the order in which they were first told.

    `print` and a notebook show them as a table; each is a `BlockEffect`.
    """

    __slots__ = ()

    @property
    def by_kind(self) -> "dict[str, Blocks]":
        """Kind -> its blocks."""
        groups = groupby(self, key=lambda effect: effect.kind)
        return {kind: Blocks(effects) for kind, effects in groups}

    def __str__(self) -> str:
        if not self:
            return "no blocks were told."
        return "\n".join(_table(kind, effects) for kind, effects in self.by_kind.items())


def spread_line(kind: str, effects: Iterable[BlockEffect]) -> str:
    """What is known of how the blocks of a kind differ, as a sentence."""
    every = list(effects)
    if len(every) == 1:
        return f"{kind}: one block, whose effect cannot be told from the process."
    spread = rounded(every[0].spread, 2)
    return (
        f"{kind}: {plural(len(every), 'block')}, which differ by a standard deviation of {spread}."
    )


def doubt_of_block(trials: Iterable[Trial], told: Iterable[Block]) -> str:
    """What is to be said of measurements told now whose blocks are unlike those of these trials."""
    before, now = _blocks_of(trials), list(told)
    usual = usual_kinds(before)
    known = {pair for block in before for pair in block}
    found = [why_unusual(block, usual) for block in now]
    found += [why_no_day(pair, known) for block in now for pair in block]
    return next(filter(None, found), "")


def typed_block(trials: Iterable[Trial], block: Block, bare: bool = True) -> Block:
    """A block that a person typed, as the study has its blocks; `bare` as in `Naming.typed`."""
    return Naming.of(trials).typed(block, bare)


@final
@dataclass(frozen=True)
class Naming:
    """How the blocks of a study are named.

    Args:
        kind: what a name alone is of: the one usual kind; "block" if there is none, or several.
        known: the kinds and names on record.
    """

    kind: str = DEFAULT_KIND
    known: frozenset[tuple[str, str]] = frozenset()

    @staticmethod
    def of(trials: Iterable[Trial]) -> "Naming":
        """That of a study."""
        before = _blocks_of(trials)
        usual = usual_kinds(before)
        kind = usual[0] if len(usual) == 1 else DEFAULT_KIND
        return Naming(kind, frozenset(pair for each in before for pair in each))

    def typed(self, block: Block, bare: bool = True) -> Block:
        """A block that a person typed, with days as they are written.

        What is on record as it was typed stays.

        Args:
            block: that was typed.
            bare: whether a name of the kind "block" was typed without its kind.
        """
        if bare and len(block) == 1 and block[0][0] == DEFAULT_KIND and block[0] not in self.known:
            block = ((self.kind, block[0][1]),)
        return tuple(pair if pair in self.known else (pair[0], to_date(pair[1])) for pair in block)


def _blocks_of(trials: Iterable[Trial]) -> list[Block]:
    return [each.block for trial in trials for each in trial.measurements]


def example_among(names: Sequence[str]) -> str:
    """The last of the names of a kind; of days, the last that is no slip."""
    days = [name for name in names if is_day(name)]
    return days[-1] if days and 2 * len(days) >= len(names) else names[-1]


def why_no_day(pair: tuple[str, str], known: Set[tuple[str, str]]) -> str:
    """What is to be said of a name that is no day, of a kind whose other names all are."""
    kind, name = pair
    others = [other for each, other in known if each == kind]
    if name in others or is_day(name) or not others or not all(map(is_day, others)):
        return ""
    return f"{name!r} is not written as the other days, such as {max(others)}."


def _table(kind: str, effects: Blocks) -> str:
    names = [one_line(each.label, 40) for each in effects]
    values = [with_uncertainty(each.mean, each.std) for each in effects]
    wide, broad = max(map(len, names)), max(map(len, values))
    lines = [spread_line(kind, effects)]
    if len(names) == 1:
        return f"{lines[0]}\n  {names[0]}  {plural(effects[0].count, 'measurement')}"
    for name, value, each in zip(names, values, effects, strict=True):
        told = plural(each.count, "measurement")
        lines.append(f"  {name:<{wide}}  {value:>{broad}}  {told}")
    return "\n".join(lines)
