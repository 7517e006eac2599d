"""Verbs that other distributions add to `ceibo`, by entry points of the group "ceibo.verbs".

An entry point names a function, which is one command, or a `typer.Typer` with commands of its own.
It is imported when its verb is called; otherwise the verb is only a line of the help.
"""

from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

import typer

from ceibo.errors import VerbError

GROUP: Final = "ceibo.verbs"


def add_installed(app: typer.Typer, called: str | None) -> None:
    """Adds the verbs of other distributions; those of the application itself are not replaced."""
    known = {command.name for command in app.registered_commands}
    for entry in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        if entry.name in known:
            continue
        known.add(entry.name)
        verb = _load(entry) if entry.name == called else None
        if isinstance(verb, typer.Typer):
            app.add_typer(verb, name=entry.name)
        elif verb is not None:
            app.command(entry.name)(verb)
        else:
            line = f"From {_origin(entry)}: see `ceibo {entry.name} --help`."
            app.command(entry.name, help=line)(stand_in)
    if called == "paper" and "paper" not in known:
        raise VerbError(
            "`ceibo paper` needs the distribution ceibo-lab, which is not installed: pip install"
            " path/to/the/clone/lab"
        )


def _load(entry: EntryPoint) -> Any:
    """Imports a verb; whatever goes wrong in another distribution becomes one sentence."""
    try:
        verb = entry.load()
    except Exception as error:
        raise _refusal(entry, f"{type(error).__name__}: {error}") from error
    if not callable(verb):
        raise _refusal(entry, f"{entry.value} is neither a function nor a typer.Typer")
    return verb


def _refusal(entry: EntryPoint, why: str) -> VerbError:
    return VerbError(
        f"the verb {entry.name!r} of {_origin(entry)} cannot be loaded: {why.rstrip('.')}; update"
        " or remove that distribution."
    )


def _origin(entry: EntryPoint) -> str:
    return "another distribution" if entry.dist is None else entry.dist.name


def stand_in() -> None:
    """Represents a verb that is not called, in the help."""
