"""The option that says what the headers of a table stand for."""

from typing import Annotated

import typer

from ceibo.errors import InputError

Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="HEADER=NAME",
        help="What a header stands for: a parameter, an outcome, value, noise, replicates, notes,"
        " date, block or trial, as in 'Time (h)=hours'. Repeatable.",
    ),
]


def read_columns(words: list[str] | None) -> dict[str, str]:
    """Header -> name, of words such as 'Time (h)=hours'."""
    found: dict[str, str] = {}
    for word in words or []:
        header, sign, name = (part.strip() for part in word.rpartition("="))
        if not sign or not header or not name:
            raise InputError(
                f"--column: expected HEADER=NAME, as in 'Time (h)=hours', got {word!r}."
            )
        if found.get(header, name) != name:
            raise InputError(f"--column: {header!r} stands for two things; give it once.")
        found[header] = name
    return found
