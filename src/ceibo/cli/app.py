"""`ceibo`: the verbs put together, and errors as one message on standard error.

Exit status: 0 done, 1 the work failed (or, for should-stop, "go on"), 2 wrong input, 130
    interrupted.
"""

import os
import shlex
import sys
import traceback
import warnings
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer

from ceibo.cli.verbs import (
    ask,
    best,
    correct,
    export,
    import_,
    init,
    report,
    run,
    should_stop,
    show,
    tell,
)
from ceibo.decide import Measurement
from ceibo.errors import CeiboError, NotStoredError
from ceibo.study import EvaluationsFailedError
from ceibo.version import __version__

_HELP = "Finds the best settings of an expensive, noisy process in as few measurements as possible."
_LITERAL = {"ignore_unknown_options": True}  # -0.5 is a value, not an option
_ANYTHING = {**_LITERAL, "allow_extra_args": True}


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ceibo {__version__}")
        raise typer.Exit


def _top(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; works anywhere.")
    ] = False,
) -> None:
    """Options of `ceibo` itself; --debug is taken out by main, so that it may stand anywhere."""


def build(arguments: list[str]) -> typer.Typer:
    """The application: the verbs of this package, and those of other distributions."""
    app = typer.Typer(
        name="ceibo",
        help=_HELP,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_top)
    app.command("init")(init.init)
    app.command("run")(run.run)
    app.command("ask")(ask.ask)
    app.command("tell", context_settings=_LITERAL)(tell.tell)
    app.command("correct", context_settings=_LITERAL)(correct.correct)
    app.command("best")(best.best)
    app.command("show")(show.show)
    app.command("should-stop")(should_stop.should_stop)
    app.command("report")(report.report)
    app.command("export")(export.export)
    app.command("import")(import_.import_)
    _add_installed(app, arguments)
    return app


def _add_installed(app: typer.Typer, arguments: list[str]) -> None:
    """Adds the verbs of other distributions (entry points of the group "ceibo.verbs").

    A verb is imported only when it is called; otherwise it is a line of the help.
    """
    for entry in sorted(entry_points(group="ceibo.verbs"), key=lambda each: each.name):
        if arguments[:1] == [entry.name]:
            app.add_typer(entry.load(), name=entry.name)
        else:
            origin = "another distribution" if entry.dist is None else entry.dist.name
            app.command(entry.name, help=f"Of {origin}: `ceibo {entry.name} --help`.")(_not_loaded)
    if not entry_points(group="ceibo.verbs", name="paper"):
        absent = app.command(
            "paper", hidden=True, add_help_option=False, context_settings=_ANYTHING
        )
        absent(_no_laboratory)


def _not_loaded() -> None:
    """Stands in the help for a verb of another distribution."""


def _no_laboratory() -> None:
    raise CeiboError(
        "`ceibo paper` needs the distribution ceibo-lab, which is not installed: "
        "pip install path/to/the/clone/lab"
    )


def main(arguments: list[str] | None = None) -> None:
    """The entry point. Ends with SystemExit, as commands do."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    debug, given = _debug(given)
    warnings.showwarning = _warn
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # a terminal that lacks a character still gets the text
            stream.reconfigure(errors="backslashreplace")
    try:
        build(given)(given)
    except EvaluationsFailedError as error:
        _complain(error, debug, 1)
    except (CeiboError, OSError, ImportError) as error:
        if isinstance(error, BrokenPipeError):  # `ceibo show | head` is no error
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            raise SystemExit(0) from None
        _complain(error, debug, 2)
    except Exception as error:
        if debug:
            raise
        typer.echo(
            f"ceibo: unexpected {type(error).__name__}: {error} (--debug shows where)", err=True
        )
        raise SystemExit(1) from None


def _debug(arguments: list[str]) -> tuple[bool, list[str]]:
    """Whether --debug is given before a `--`, and the arguments without it."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    kept = [each for each in arguments[:end] if each != "--debug"]
    return len(kept) < end, kept + arguments[end:]


def _complain(error: Exception, debug: bool, status: int) -> None:
    if debug:
        traceback.print_exception(error)
    typer.echo(
        f"ceibo: {_not_stored(error) if isinstance(error, NotStoredError) else error}", err=True
    )
    raise SystemExit(status) from None


def _not_stored(error: NotStoredError) -> str:
    """A measurement that the database did not take, as it can be told again from a shell."""
    assert isinstance(error.measurement, Measurement)
    told = error.measurement
    words = told.replicates or [each for each in (told.value, told.noise) if each is not None]
    option = " --replicates" if told.replicates else ""
    key = f" --key {shlex.quote(error.key)}" if error.key else ""
    again = f"ceibo tell STUDY.TOML {error.number} {' '.join(map(repr, words))}{option}{key}"
    return (
        f"trial {error.number} was measured, {told}, but this was not recorded: "
        f"{error.__cause__}. Once the database answers: {again}"
    )


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    typer.echo(f"ceibo: warning: {message}", err=True)
