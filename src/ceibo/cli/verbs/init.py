"""`ceibo init`: writes a commented study file, to be edited or ready to run."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ceibo.cli.common import Output, warn
from ceibo.cli.files import check_writable, write_whole
from ceibo.cli.handed import words_of
from ceibo.cli.outcome_options import SPELLING, read_outcomes
from ceibo.cli.spelled import check_spelled, why_short, with_points
from ceibo.cli.studyfile import parse, storage_of
from ceibo.cli.toml import to_toml
from ceibo.cli.when_option import SPELLING as WHEN
from ceibo.cli.when_option import split_when, when_entry
from ceibo.decide import DEFAULT_ACQUISITION
from ceibo.decide.dimensions.table import TYPES
from ceibo.decide.settings import DEFAULT_CONFIDENCE
from ceibo.errors import InputError
from ceibo.study.store import Store

_TEMPLATE = """\
# A study of ceibo: what to vary, how to measure, when to stop. Paths are relative to this file.
{steps}#   ceibo report {file} -o report.html

name = {name}
{wish}
storage = {storage}
# storage = "postgresql://user@host/database"   # many machines share the work
seed = 0                            # the same seed and results give the same suggestions
# acquisition = "{acquisition}"      # what to measure next; initial = 8: size of the initial design

# what may be varied; a float with step = 5 has only every fifth value
[space]
{space}
{rules}{outcomes}
{command}
[stop]                              # whichever comes first
trials = {trials}                         # trials in all
# cost = 0.001                      # price of a measurement, objective's units: stop if none pays
# time = 3600                       # seconds after which no new trial starts
failures = 3                        # failed trials in a row that end a run
"""
_BY_PROGRAM = """\
#   ceibo run {file} --dry-run     shows the first commands
#   ceibo run {file}               measures; run it again to go on
"""
_BY_HAND = """\
#   ceibo sheet {file} plan.xlsx -n 8     what to measure next as a worksheet; back with --read
#   ceibo ask {file}               the same by hand, a trial at a time
#   ceibo tell {file} 0 {told}      and what came of trial 0
#   ceibo serve {file}             the same on a page in the browser
"""
_COMMAND = """\
[command]                           # how one setting is measured; no shell is involved
{result} Each parameter is in the environment too, as CEIBO_<name>.
argv = {argv}
timeout = 600                       # seconds; then it and all its descendants are ended
"""
_NO_COMMAND = """\
# [command]                         # if a program measures: how, for `ceibo run`
# argv = {argv}
"""
_DIRECTION = 'direction = "{direction}"              # or "{other}"'
_CONFIDENCE = (
    "confidence = {confidence}                   # with which the limits of an answer hold"
)
_OUTCOMES = """
# what is measured: goals, limits (at_most, at_least), and what is only watched
[outcomes]
{entries}
"""
_RULES = """
# what every setting must hold
[constraints]
rules = [
{entries}
]
"""
_RESULT = """\
# The last line it prints is the result: a number, `value noise`, three or more replicates, or
# {"value": 0.31, "noise": 0.04}."""
_RESULTS = """\
# The last lines it prints are the results, one per outcome, as `{name}=1.5` or `{name}=1.5 0.1`
# with its noise; or one line of JSON."""
_SPACE = """\
temp = {type = "float", low = 20, high = 90}
rate = {type = "float", low = 1e-5, high = 1e-1, log = true}
layers = {type = "int", low = 1, high = 8}
solvent = {type = "categorical", choices = ["water", "ethanol"]}"""
_ARGV = ["python", "measure.py", "--temp", "{temp}", "--rate", "{rate}"]
_ARGV += ["--layers", "{layers}", "{solvent}"]


_RULE = "What settings must hold: a + b + c == 1, temp <= 66 if solvent == 'THF'"


def _forms() -> str:
    return ", ".join(each.spelling for each in TYPES.values() if each.spelling)


def init(  # noqa: PLR0913 - options of a command
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND …]", help="The command, after --, with {name} for parameters."
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="PARAMETER", help=f"{_forms()}. {WHEN} Repeatable."),
    ] = None,
    rule: Annotated[
        list[str] | None, typer.Option("--rule", metavar="RULE", help=f"{_RULE}. Repeatable.")
    ] = None,
    output: Output = Path("study.toml"),
    name: Annotated[
        str | None, typer.Option(help="Of the study; the file's name by default.")
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Trials in all.")] = 60,
    maximize: Annotated[
        bool, typer.Option("--maximize", help="Larger is better: a yield, not a loss.")
    ] = False,
    outcome: Annotated[
        list[str] | None,
        typer.Option("--outcome", metavar="OUTCOME", help=f"{SPELLING}. Repeatable."),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(help="With which the limits of an answer hold.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Write a commented study file, with the space and command given or examples to edit."""
    if output.exists() and not force:
        raise InputError(
            f"{output} exists already; choose another file with -o, or overwrite it with --force."
        )
    outcomes = read_outcomes(outcome or [])
    if maximize and outcomes:
        raise InputError("--maximize: each outcome has its own goal; leave it out with --outcome.")
    if confidence is not None and not outcomes:
        raise InputError("--confidence is about the limits of outcomes; it needs --outcome.")
    title = name or output.absolute().stem
    space = _parameters(param or [])
    example = ["./measure.sh", *(f"{{{each}}}" for each in space)] if space else _ARGV
    by_hand = bool(space) and not command
    told = _words(outcomes) or "VALUE"
    wishes = _wishes(outcomes, maximize, confidence)
    steps = _BY_HAND if by_hand else _BY_PROGRAM + _BY_HAND
    way = _NO_COMMAND if by_hand else _COMMAND
    text = _TEMPLATE.format(
        file=output.name,
        name=to_toml(title),
        wish=wishes["wish"],
        outcomes=wishes["outcomes"],
        steps=steps.format(file=output.name, told=told),
        command=way.format(result=wishes["result"], argv=to_toml(command or example)),
        storage=to_toml(storage_of(title)),
        space=_entries(space) or _SPACE,
        rules=_rules(rule or []),
        trials=trials,
        acquisition=DEFAULT_ACQUISITION,
    )
    try:
        content = text.encode()
    except UnicodeEncodeError:
        raise InputError("a name, rule or command is not UTF-8; write it in UTF-8.") from None
    file = parse(content, output)
    check_writable(output)
    Store(os.environ.get("CEIBO_STORAGE") or file.storage).close()
    write_whole(output, text)
    for each, dimension in file.space.dimensions.items():
        if param and dimension.listed:  # shown, because a comma may have split a name
            listed = ", ".join(map(repr, dimension.listed))
            kind = "levels" if dimension.is_ordered else "categories"
            typer.echo(f"{each}: {len(dimension.listed)} {kind}: {listed}")
        if param and (short := why_short(dimension)):
            warn(f"{each}: {short}")
    shown = shlex.quote(str(output))
    sheet = f"ceibo sheet {shown} plan.xlsx -n 8"
    if by_hand:
        typer.echo(f"wrote {shown}; check it, then, for a worksheet: {sheet}")
    else:
        what = "check it" if param else "edit the space and the command"
        typer.echo(f"wrote {shown}; {what}, then: ceibo run {shown} --dry-run")
    if not command:
        if not by_hand:
            typer.echo(f"or on a worksheet: {sheet}")
        told = "VALUE" if file.outcomes is None else words_of(file.outcomes)
        typer.echo(f"or a trial at a time: ceibo ask {shown}, and ceibo tell {shown} 0 {told}")
        typer.echo(f"or on a page in the browser: ceibo serve {shown}")


def _words(outcomes: Mapping[str, Any]) -> str:
    """The words by which the values of outcomes are told; none without outcomes."""
    told = (name for name, each in outcomes.items() if not each.get("watch"))
    return " ".join(shlex.quote(f"{name}=VALUE") for name in told)


def _entries(table: Mapping[str, Any]) -> str:
    """The entries of a table, a line each."""
    return "\n".join(f"{to_toml(key, key=True)} = {to_toml(each)}" for key, each in table.items())


def _rules(given: list[str]) -> str:
    """The table of the rules, a line each; nothing if there are none."""
    lines = "\n".join(f"    {to_toml(each)}," for each in given)
    return _RULES.format(entries=lines) if given else ""


def _wishes(
    outcomes: Mapping[str, Any], maximize: bool, confidence: float | None
) -> dict[str, str]:
    """What is wanted of the objective, or of the outcomes, and what the command prints."""
    if not outcomes:
        ways = ("maximize", "minimize") if maximize else ("minimize", "maximize")
        wish = _DIRECTION.format(direction=ways[0], other=ways[1])
        return {"wish": wish, "outcomes": "", "result": _RESULT}
    chosen = DEFAULT_CONFIDENCE if confidence is None else confidence
    return {
        "wish": _CONFIDENCE.format(confidence=to_toml(chosen)),
        "outcomes": _OUTCOMES.format(entries=_entries(outcomes)),
        "result": _RESULTS.format(name=next(iter(outcomes))),
    }


def _parameters(given: list[str]) -> dict[str, dict[str, Any]]:
    """Name -> entry of [space]."""
    space: dict[str, dict[str, Any]] = {}
    conditions = {}
    for text in given:
        spec, when = split_when(text)
        name, entry = _parse_parameter(spec)
        if name in space:
            raise InputError(f"--param: the parameter {name!r} is given twice; once is enough.")
        space[name] = entry
        if when:
            conditions[name] = when
    for name, words in conditions.items():
        space[name]["when"] = when_entry(words, space)
    return space


def _parse_parameter(text: str) -> tuple[str, dict[str, Any]]:
    """A name and its entry of [space], from NAME=SPEC in the spelling of one of the types."""
    name, _, spec = text.partition("=")
    check_spelled(name, spec)
    try:
        entries = [each.parse(spec) for each in TYPES.load_installed().values()]
    except InputError as error:
        raise error.about("--param") from None
    entry = next((each for each in entries if each is not None), None)
    if not name.strip() or entry is None:
        raise InputError(f"--param: expected {_forms()}, got {text!r}{with_points(name, spec)}.")
    return name.strip(), entry
