"""The effects of blocks, as people read them."""

from collections.abc import Iterable
from itertools import groupby
from typing import final

from ceibo.attached import Shown
from ceibo.decide.block_names import Block, usual_kinds, why_unusual
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
    usual = usual_kinds(each.block for trial in trials for each in trial.measurements)
    return next(filter(None, (why_unusual(block, usual) for block in told)), "")


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
