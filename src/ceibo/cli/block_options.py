"""The options that say of a result in which block it is, and of how many values its noise is."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from ceibo.cli.results import Told
from ceibo.decide.block_names import DEFAULT_KIND, Block, block_of
from ceibo.errors import InputError

InBlock = Annotated[
    list[str] | None,
    typer.Option(
        "--block",
        metavar="NAME|KIND=NAME",
        help="What measurements share beside their settings, such as a day; repeatable, as in"
        " --block day=2026-11-14 --block plate=3.",
        show_default=False,
    ),
]
Count = Annotated[
    int | None,
    typer.Option(
        help="The noise is a standard error computed from so many values.", show_default=False
    ),
]


def read_block(words: Sequence[str] | None) -> Block:
    """The block that the words of --block name, each with its kind or without."""
    pairs = [word.partition("=") for word in words or ()]
    named = [(kind, name) if sign else (DEFAULT_KIND, kind) for kind, sign, name in pairs]
    try:
        return block_of(tuple(named))
    except InputError as error:
        raise InputError(f"--{error}") from None


def is_bare(words: Sequence[str] | None) -> bool:
    """Whether the words of --block say no kind."""
    return not any("=" in word for word in words or ())


def with_count(told: Told, count: int | None) -> Told:
    """What was told, its noises as standard errors of so many values."""
    if count is None:
        return told
    alone = len(told.values) == 1
    try:
        values = {
            name: replace(each, count=count) if alone or each.noise is not None else each
            for name, each in told.values.items()
        }
    except InputError as error:
        raise InputError(f"--{error}") from None
    if all(each.count is None for each in values.values()):
        raise InputError(
            "--count: expected a value with its noise, as in yield=81.2 0.5, got none."
        )
    return replace(told, values=values)
