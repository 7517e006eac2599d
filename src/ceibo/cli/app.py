"""`ceibo`: the verbs put together, and errors as one message on standard error.

Exit status: 0 done, 1 the work failed (for should-stop: "go on"), 2 wrong input, 130 interrupted.
"""

import os
import sys
import traceback
import warnings
from typing import Annotated, Any

import typer

from ceibo.cli.plugins import add_installed, stand_in
from ceibo.cli.verbs import VERBS, WITH_NUMBERS, verb
from ceibo.errors import CeiboError, EvaluationsFailedError, StorageError
from ceibo.version import __version__

_HELP = "Finds the best settings of an expensive, noisy process in as few measurements as possible."


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
    """The application for these arguments: the verbs of ceibo and of other distributions.

    The verb that is called is imported; of the others, only a line of the help is needed.
    """
    app = typer.Typer(
        name="ceibo",
        help=_HELP,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_top)
    called = next((each for each in arguments if not each.startswith("-")), None)
    for name, line in VERBS.items():
        if name == called:
            settings = {"ignore_unknown_options": name in WITH_NUMBERS}
            app.command(name, context_settings=settings)(verb(name))
        else:
            app.command(name, help=line)(stand_in)
    if called not in VERBS:
        add_installed(app, called)
    return app


def main(arguments: list[str] | None = None) -> None:
    """Runs a command and ends with SystemExit; the entry point."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    debug, given = _take_debug(given)
    warnings.showwarning = _show_warning
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A character that the terminal lacks is printed as an escape.
            stream.reconfigure(errors="backslashreplace")
    try:
        build(given)(given)
    except EvaluationsFailedError as error:
        _complain(error, given, debug, 1)
    except (CeiboError, OSError, ImportError) as error:
        if isinstance(error, BrokenPipeError):  # `ceibo show | head` is no error
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            raise SystemExit(0) from None
        _complain(error, given, debug, 2)
    except Exception as error:
        if debug:
            raise
        what = f"{type(error).__name__}: {error}"
        typer.echo(f"ceibo: unexpected {what} (--debug shows where)", err=True)
        raise SystemExit(1) from None


def _take_debug(arguments: list[str]) -> tuple[bool, list[str]]:
    """Whether --debug is given before a `--`, and the arguments without it."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    kept = [each for each in arguments[:end] if each != "--debug"]
    return len(kept) < end, kept + arguments[end:]


def _complain(error: Exception, given: list[str], debug: bool, status: int) -> None:
    if debug:
        traceback.print_exception(error)
    for text in _sentences(error, given):
        typer.echo(f"ceibo: {text}", err=True)
    raise SystemExit(status) from None


def _sentences(error: Exception, given: list[str]) -> list[str]:
    if not isinstance(error, StorageError):
        return [str(error)]
    from ceibo.cli.unstored import sentences  # it needs most of ceibo, and most errors do not

    return sentences(error, next((each for each in given[1:] if each.endswith(".toml")), None))


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    typer.echo(f"ceibo: warning: {message}", err=True)
