"""`ceibo`: the verbs put together, and errors as one message on standard error.

Exit status: 0 done, 1 the work failed (for should-stop: "go on"), 2 wrong input, 130 interrupted.
"""

import json
import os
import shlex
import sys
import traceback
import warnings
from typing import Annotated, Any

import typer

from ceibo.cli.plugins import add_installed
from ceibo.cli.verbs import (
    ask,
    backup,
    best,
    change,
    correct,
    doctor,
    enqueue,
    export,
    import_,
    init,
    predict,
    report,
    run,
    serve,
    should_stop,
    show,
    studies,
    tell,
    void,
)
from ceibo.command.outcomes import result_json, results_json, results_line
from ceibo.decide import Measurement
from ceibo.errors import CeiboError, EvaluationsFailedError, NotStoredError, StorageError
from ceibo.version import __version__

_HELP = "Finds the best settings of an expensive, noisy process in as few measurements as possible."
_LITERAL = {"ignore_unknown_options": True}  # -0.5 is a value, not an option


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
    """The application for these arguments: the verbs of ceibo and of other distributions."""
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
    app.command("enqueue", context_settings=_LITERAL)(enqueue.enqueue)
    app.command("void")(void.void)
    app.command("change")(change.change)
    app.command("best")(best.best)
    app.command("predict", context_settings=_LITERAL)(predict.predict)
    app.command("show")(show.show)
    app.command("should-stop")(should_stop.should_stop)
    app.command("report")(report.report)
    app.command("serve")(serve.serve)
    app.command("studies")(studies.studies)
    app.command("doctor")(doctor.doctor)
    app.command("export")(export.export)
    app.command("import")(import_.import_)
    app.command("backup")(backup.backup)
    add_installed(app, arguments)
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
        _complain(error, debug, 1)
    except (CeiboError, OSError, ImportError) as error:
        if isinstance(error, BrokenPipeError):  # `ceibo show | head` is no error
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            raise SystemExit(0) from None
        _complain(error, debug, 2)
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


def _complain(error: Exception, debug: bool, status: int) -> None:
    if debug:
        traceback.print_exception(error)
    for text in _sentences(error):
        typer.echo(f"ceibo: {text}", err=True)
    raise SystemExit(status) from None


def _sentences(error: Exception) -> list[str]:
    """What to say about an error: a sentence per measurement that the database did not take."""
    unstored = error.unstored if isinstance(error, StorageError) else ()
    if not isinstance(error, NotStoredError):
        return [str(error), *map(_retell, unstored)]
    others = [each for each in unstored if each.number != error.number]
    return [_retell(error), *map(_retell, others)]


def _retell(error: NotStoredError) -> str:
    """Says how to tell a measurement again that the database did not take."""
    told = error.measurement
    if isinstance(told, Measurement) and (told.count is not None or told.block):
        result, shown = shlex.quote(json.dumps(result_json(told), ensure_ascii=False)), str(told)
    elif isinstance(told, Measurement):
        words = told.replicates or (told.value,)
        if told.noise is not None and not told.replicates:
            words = (told.value, told.noise)
        result = " ".join(map(repr, words)) + (" --replicates" if told.replicates else "")
        shown = str(told)
    else:
        assert isinstance(told, dict)
        result, shown = shlex.quote(results_json(told)), results_line(told)
    key = f" --key {shlex.quote(error.key)}" if error.key else ""
    again = f"ceibo tell STUDY.TOML {error.number} {result}{key}"
    cause = error.__cause__
    why = "." if cause is None else f": {str(cause).rstrip('.')}."
    return (
        f"trial {error.number} was measured, {shown}, but this was not recorded{why} Once the"
        f" database answers: {again}"
    )


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    typer.echo(f"ceibo: warning: {message}", err=True)
