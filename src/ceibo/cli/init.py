"""`ceibo init`: a commented study file, to be edited or ready to run."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ceibo.cli.studyfile import load
from ceibo.errors import InputError
from ceibo.study.suggest import DEFAULT_ACQUISITION

_TEMPLATE = """\
# A study of ceibo: what to vary, how to measure, when to stop. Paths are relative to this file.
#   ceibo run {file} --dry-run     shows the first commands
#   ceibo run {file}               measures; run it again to go on
#   ceibo report {file} -o report.html

name = {name}
direction = "minimize"              # or "maximize"
storage = {storage}
# storage = "postgresql://user@host/database"   # many machines share the work
seed = 0                            # the same seed and results give the same suggestions
# acquisition = "{acquisition}"      # what to measure next; initial = 8: size of the initial design

[space]                             # what may be varied
{space}

[command]                           # how one setting is measured; no shell is involved
# The last line it prints is the result: a number, `value noise`, three or more replicates, or
# {{"value": 0.31, "noise": 0.04}}. Each parameter is in the environment too, as CEIBO_<name>.
argv = {argv}
timeout = 600                       # seconds; then it and all its descendants are ended

[stop]                              # whichever comes first
trials = {trials}                         # trials in all
# cost = 0.001                      # price of one measurement, in the objective's units: stop when none pays
# time = 3600                       # seconds after which no new trial starts
failures = 3                        # failed trials in a row that end a run
"""
_SPACE = """\
temp = {type = "float", low = 20, high = 90}
rate = {type = "float", low = 1e-5, high = 1e-1, log = true}
layers = {type = "int", low = 1, high = 8}
solvent = {type = "categorical", choices = ["water", "ethanol"]}"""
_ARGV = ["python", "measure.py", "--temp", "{temp}", "--rate", "{rate}", "--layers", "{layers}", "{solvent}"]


def init(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- COMMAND …]", help="The command, after --, with {name} for parameters."),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", help="x=0:1, x=1e-5:1e-1:log, n=1:8:int or solvent=water,ethanol. Repeatable."),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path("study.toml"),
    name: Annotated[str | None, typer.Option(help="Of the study; the file's name by default.")] = None,
    trials: Annotated[int, typer.Option(min=1, help="Trials in all.")] = 60,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Write a commented study file, with the space and the command given or with examples to edit."""
    if output.exists() and not force:
        raise InputError(f"{output} exists already; choose another file with -o, or overwrite it with --force.")
    title = name or output.absolute().stem
    text = _TEMPLATE.format(
        file=output.name,
        name=_toml(title),
        storage=_toml(f"sqlite:///{title}.db"),
        space="\n".join(_parameter(each) for each in param) if param else _SPACE,
        argv=_toml(command or _ARGV),
        trials=trials,
        acquisition=DEFAULT_ACQUISITION,
    )
    if param and not command:
        text = text.replace(_toml(_ARGV), _toml(["./measure.sh", *(f"{{{each.split('=')[0]}}}" for each in param)]))
    output.write_text(text, encoding="utf-8")
    try:
        load(output)
    except InputError:
        output.unlink()
        raise
    what = "edit the space and the command" if not (param and command) else "check it"
    typer.echo(f"wrote {output}; {what}, then: ceibo run {output} --dry-run")


def _parameter(text: str) -> str:
    """One line of [space] from NAME=LOW:HIGH[:log|:int] or NAME=A,B,C."""
    name, equals, rest = text.partition("=")
    ends = rest.split(":")
    entry: dict[str, Any] = {}
    if equals and len(ends) == 1 and "," in rest:
        entry = {"type": "categorical", "choices": [choice.strip() for choice in rest.split(",")]}
    elif equals and len(ends) >= 2 and set(ends[2:]) <= {"log", "int"}:
        kind = "int" if "int" in ends[2:] else "float"
        try:
            low, high = (int(end) if kind == "int" else float(end) for end in ends[:2])
            entry = {"type": kind, "low": low, "high": high} | ({"log": True} if "log" in ends[2:] else {})
        except ValueError:
            pass
    if not entry or not name.strip():
        raise InputError(f"--param: expected x=0:1, x=1e-5:1e-1:log, n=1:8:int or solvent=water,ethanol, got {text!r}.")
    return f"{_toml(name.strip(), key=True)} = {_toml(entry)}"


def _toml(value: Any, key: bool = False) -> str:
    """A value as TOML writes it."""
    if key and value.replace("-", "_").isidentifier() and value.isascii():
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(name, key=True)} = {_toml(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(each) for each in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.17g}" if value != int(value) or abs(value) >= 1e15 else str(int(value))
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F") if isinstance(value, str) else str(value)
