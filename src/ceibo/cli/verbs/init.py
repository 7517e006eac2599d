"""`ceibo init`: a commented study file, to be edited or ready to run."""

import csv
import math
from pathlib import Path
from typing import Annotated, Any

import typer

from ceibo.cli.files import write_whole
from ceibo.cli.studyfile import parse, storage_of
from ceibo.cli.toml import to_toml
from ceibo.decide.suggest import DEFAULT_ACQUISITION
from ceibo.errors import InputError
from ceibo.numbers import to_number

_TEMPLATE = """\
# A study of ceibo: what to vary, how to measure, when to stop. Paths are relative to this file.
#   ceibo run {file} --dry-run     shows the first commands
#   ceibo run {file}               measures; run it again to go on
#   ceibo report {file} -o report.html

name = {name}
direction = "{direction}"              # or "{other}"
storage = {storage}
# storage = "postgresql://user@host/database"   # many machines share the work
seed = 0                            # the same seed and results give the same suggestions
# acquisition = "{acquisition}"      # what to measure next; initial = 8: size of the initial design

# what may be varied; a float with step = 5 has only every fifth value
[space]
{space}

[command]                           # how one setting is measured; no shell is involved
# The last line it prints is the result: a number, `value noise`, three or more replicates, or
# {{"value": 0.31, "noise": 0.04}}. Each parameter is in the environment too, as CEIBO_<name>.
argv = {argv}
timeout = 600                       # seconds; then it and all its descendants are ended

[stop]                              # whichever comes first
trials = {trials}                         # trials in all
# cost = 0.001                      # price of a measurement, objective's units: stop if none pays
# time = 3600                       # seconds after which no new trial starts
failures = 3                        # failed trials in a row that end a run
"""
_SPACE = """\
temp = {type = "float", low = 20, high = 90}
rate = {type = "float", low = 1e-5, high = 1e-1, log = true}
layers = {type = "int", low = 1, high = 8}
solvent = {type = "categorical", choices = ["water", "ethanol"]}"""
_ARGV = [
    "python",
    "measure.py",
    "--temp",
    "{temp}",
    "--rate",
    "{rate}",
    "--layers",
    "{layers}",
    "{solvent}",
]

_FORMS = (
    "x=0:1, x=1e-5:1e-1:log, T=20:120:step=5, n=1:8:int, solvent=water,ethanol, or with double"
    " quotes around a name "
    """that has a comma or a colon 'solvent="1,4-dioxane",DMF'"""
)


def init(  # noqa: PLR0913 - options of a command
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND …]", help="The command, after --, with {name} for parameters."
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="PARAMETER", help=f"{_FORMS}. Repeatable."),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path(
        "study.toml"
    ),
    name: Annotated[
        str | None, typer.Option(help="Of the study; the file's name by default.")
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Trials in all.")] = 60,
    maximize: Annotated[
        bool, typer.Option("--maximize", help="Larger is better: a yield, not a loss.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Write a commented study file, with the space and command given or examples to edit."""
    if output.exists() and not force:
        raise InputError(
            f"{output} exists already; choose another file with -o, or overwrite it with --force."
        )
    title = name or output.absolute().stem
    space = _parameters(param or [])
    example = ["./measure.sh", *(f"{{{each}}}" for each in space)] if space else _ARGV
    text = _TEMPLATE.format(
        file=output.name,
        name=to_toml(title),
        direction="maximize" if maximize else "minimize",
        other="minimize" if maximize else "maximize",
        storage=to_toml(storage_of(title)),
        space="\n".join(
            f"{to_toml(each, key=True)} = {to_toml(entry)}" for each, entry in space.items()
        )
        or _SPACE,
        argv=to_toml(command or example),
        trials=trials,
        acquisition=DEFAULT_ACQUISITION,
    )
    parse(text.encode(), output)
    write_whole(output, text)
    for each, entry in space.items():
        if "choices" in entry:  # shown as they were read: a comma may have split a name
            listed = ", ".join(map(repr, entry["choices"]))
            typer.echo(f"{each}: {len(entry['choices'])} categories: {listed}")
    what = "edit the space and the command" if not (param and command) else "check it"
    typer.echo(f"wrote {output}; {what}, then: ceibo run {output} --dry-run")


def _parameters(given: list[str]) -> dict[str, dict[str, Any]]:
    """Name -> entry of [space]."""
    space: dict[str, dict[str, Any]] = {}
    for text in given:
        name, entry = _parameter(text)
        if name in space:
            raise InputError(f"--param: the parameter {name!r} is given twice; once is enough.")
        space[name] = entry
    return space


def _parameter(text: str) -> tuple[str, dict[str, Any]]:
    """A name and its entry of [space] from NAME=LOW:HIGH[:log|:int|:step=S] or NAME=A,B,C."""
    name, _, rest = text.partition("=")
    ends = rest.split(":")
    if not name.strip():
        raise _form_error(text)
    if '"' in rest or (len(ends) == 1 and "," in rest):
        return name.strip(), {"type": "categorical", "choices": _categories(rest, text)}
    if len(ends) < 2:
        raise _form_error(text)
    kind = "int" if "int" in ends[2:] else "float"
    entry: dict[str, Any] = {"type": kind, "low": _end(ends[0], text), "high": _end(ends[1], text)}
    for option in ends[2:]:
        if option == "log":
            entry["log"] = True
        elif option.startswith("step="):
            entry["step"] = _end(option.removeprefix("step="), text)
        elif option != "int":
            raise _form_error(text)
    return name.strip(), entry


def _end(word: str, text: str) -> int | float:
    number = to_number(word)
    if number is None:
        raise _form_error(text)
    if not math.isfinite(number):
        raise InputError(f"--param: expected finite numbers, got {word} in {text!r}.")
    return number


def _categories(rest: str, text: str) -> list[str]:
    """Names by the rules of CSV: one with a comma or a colon stands in double quotes."""
    try:
        (cells,) = csv.reader([rest.strip()], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        raise _form_error(text) from None
    choices = [cell.strip() for cell in cells]
    if not all(choices):
        raise InputError(f"--param: there is an empty category in {text!r}; drop a comma.")
    return choices


def _form_error(text: str) -> InputError:
    return InputError(f"--param: expected {_FORMS}, got {text!r}.")
