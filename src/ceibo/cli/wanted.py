"""Settings given to a verb: one in words such as temp=50, or those of a CSV file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ceibo.cli.studyfile import StudyFile
from ceibo.cli.words import read_words
from ceibo.decide import Space
from ceibo.decide.space import Params
from ceibo.errors import InputError
from ceibo.sheets.columns import parameter_columns
from ceibo.sheets.rows import read_settings

Settings = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME=VALUE …|SETTINGS.CSV",
        help="One setting, every parameter of it; or a CSV with a column per parameter.",
    ),
]


def names_file(words: Sequence[str]) -> bool:
    """Whether the words are the name of a file, rather than a setting."""
    return len(words) == 1 and "=" not in words[0]


def read_wanted(words: Sequence[str], file: StudyFile) -> list[Params]:
    """The settings that are given, each checked."""
    space = file.space
    if not names_file(words):
        return [_setting(words, space)]
    names = parameter_columns(space.names, file.outcomes)
    return read_settings(Path(words[0]), space, names)


def _setting(words: Sequence[str], space: Space) -> Params:
    """The setting in words such as temp=50."""
    found = read_words(words, space)
    missing = [name for name in space.names if name not in found]
    if missing and space.conditions is None:
        raise InputError(f"the setting lacks {', '.join(missing)}; give every parameter a value.")
    return space.check(found)
