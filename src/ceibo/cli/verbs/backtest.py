"""`ceibo backtest`: would it have found the best of a table of past measurements, and how soon?"""

from pathlib import Path
from typing import Annotated, Any

import typer

from ceibo.cli.common import AsJson, StudyName, print_json, print_table
from ceibo.cli.inferring import infer_space
from ceibo.cli.opening import open_study
from ceibo.cli.source import load, names_study
from ceibo.cli.studyfile import StudyFile
from ceibo.decide import Direction, Outcomes, Space
from ceibo.decide.backtest import Target
from ceibo.decide.frame import Frame
from ceibo.errors import InputError
from ceibo.numbers import rounded, with_uncertainty
from ceibo.sheets.entries import Wanted
from ceibo.sheets.rows import read_rows
from ceibo.study import Backtest, Failure, Study
from ceibo.study import backtest as replay
from ceibo.text import one_line, params_line


def backtest(  # noqa: PLR0913 - one parameter per option of the command
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE|STUDY.TOML|URL",
            help="CSV or .xlsx of past measurements, in the order in which they were made; or a"
            " study, whose measurements are replayed.",
        ),
    ],
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            metavar="STUDY.TOML|URL",
            help="The study whose parameters they are; by default those of the columns.",
            show_default=False,
        ),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(
            help="Column of the values, or a goal of the study; `value`, or the only goal, by"
            " default.",
            show_default=False,
        ),
    ] = None,
    noise: Annotated[
        str | None, typer.Option(help="Column of their standard deviations.", show_default=False)
    ] = None,
    maximize: Annotated[
        bool, typer.Option("--maximize", help="Large values are wanted; a study file says so too.")
    ] = False,
    skip: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column that is no parameter. Repeatable."),
    ] = None,
    seeds: Annotated[int, typer.Option(help="How many replays.", min=1, max=1000)] = 10,
    study_name: StudyName = None,
    json: AsJson = False,
) -> None:
    """Replay the search among past measurements: when would it have taken the best of them?"""
    if names_study(table):
        if any((file, noise, maximize, skip)):
            raise InputError(
                f"{table} is a study; leave out --file, --noise, --maximize and --skip, which are"
                " about a table."
            )
        study = _measured(load(table, study_name), value)
    elif file is not None:
        loaded = load(file, study_name)
        value = _goal_of(loaded, value)
        study = _empty(loaded, value, maximize)
        _add_rows(study, Path(table), value, noise)
    else:
        space, left_out = infer_space(Path(table), value, noise, skip or ())
        study = Study.create(space, direction="maximize" if maximize else "minimize")
        if not json:
            _print_space(space, left_out)
        _add_rows(study, Path(table), value, noise)
    found = replay(study, seeds=seeds)
    if json:
        print_json(_json(found))
    else:
        _print(found, seeds)


def _add_rows(study: Study, path: Path, value: str | None, noise: str | None) -> None:
    """Adds what was measured in the rows of a table."""
    named = {"value": value, "noise": noise}
    mapping = {header: name for name, header in named.items() if header is not None}
    rows = read_rows(path, Wanted(Frame(study.space), mapping=mapping)).rows
    study.add_all([row for row in rows if not isinstance(row[1], Failure)])


def _goal_of(loaded: StudyFile, value: str | None) -> str | None:
    """The goal that is replayed, of a study with outcomes."""
    if loaded.outcomes is None or value is not None:
        return value
    goals = loaded.outcomes.goals
    if len(goals) > 1:
        raise InputError(f"a backtest is of one goal; say which with --value: {', '.join(goals)}.")
    return goals[0]


def _empty(loaded: StudyFile, goal: str | None, maximize: bool) -> Study:
    """An empty study in memory over the parameters of a study, of one objective."""
    direction = loaded.direction
    if loaded.outcomes is not None:
        direction = loaded.outcomes[_named(loaded.outcomes, goal)].direction
    direction = Direction.MAXIMIZE if maximize else direction or Direction.MINIMIZE
    return Study.create(loaded.space, direction=direction, seed=loaded.seed)


def _named(outcomes: Outcomes, goal: str | None) -> str:
    """The goal of that name; a column of another name is that of the only goal."""
    if goal in outcomes.goals:
        return str(goal)
    if len(outcomes.goals) > 1:
        goals = ", ".join(outcomes.goals)
        raise InputError(f"--value: expected a goal of the study, {goals}, got {goal!r}.")
    return outcomes.goals[0]


def _measured(loaded: StudyFile, value: str | None) -> Study:
    """What a study has measured, as a study of one objective."""
    study = open_study(loaded, None)
    if study.outcomes is None:
        if value is not None:
            raise InputError("--value names a goal, and the study has one objective; leave it out.")
        return study
    goal = _goal_of(loaded, value)
    if goal is None or goal not in study.outcomes.goals:
        goals = ", ".join(study.outcomes.goals)
        raise InputError(f"--value: expected a goal of the study, got {goal!r}; it has {goals}.")
    single = _empty(loaded, goal, maximize=False)
    told = [(trial.params, each) for trial in study.trials for each in trial.outcomes.get(goal, ())]
    single.add_all(told)
    return single


def _print_space(space: Space, left_out: list[str]) -> None:
    typer.echo("parameters, by the columns of the table:")
    print_table([(one_line(name, 40), each.describe()) for name, each in space.dimensions.items()])
    if left_out:
        typer.echo(f"left out: {', '.join(one_line(name, 40) for name in left_out)}")
    typer.echo()


def _print(found: Backtest, seeds: int) -> None:
    def row(name: str, target: Target) -> tuple[str, ...]:
        span = f"{target.median:g} ({min(target.found)} to {max(target.found)})"
        belief = with_uncertainty(target.mean, target.std)
        random = f"{found.random:g}"
        return name, rounded(target.value), belief, str(target.own), span, random

    heads = ("", "measured", "believed", "came as", "ceibo takes it as", "at random")
    rows = [heads, row("best measured value", found.raw)]
    if found.believed.number != found.raw.number:
        rows.append(row("best as believed", found.believed))
    print_table(rows)
    typer.echo(f"\nthe setting: {params_line(found.raw.params)}")
    text = str(found)
    typer.echo(f"\n{text[:1].upper()}{text[1:]}")
    typer.echo(f"\n{_caveats(found, seeds)}")


def _caveats(found: Backtest, seeds: int) -> str:
    """What the figures do not say."""
    said = [
        f"The median of {seeds} replays is shown, with the least and the most. They can only take"
        " settings of the table: what lies between them, or beyond, is not there to be found."
    ]
    if found.believed.number != found.raw.number:
        said.append(
            "Noise may have decided which value is the best measured: by all measurements together"
            " another setting is expected to be better, and the second row is about that one."
        )
    said.append(
        "If later settings were chosen in the light of earlier ones, the table is dense where"
        " things are good, and any order finds good ones soon."
    )
    if found.settings < 4 * found.initial:
        said.append(
            f"With {found.settings} settings, of which the first {found.initial} are taken without"
            " a model, the figures say little."
        )
    return " ".join(said)


def _json(found: Backtest) -> dict[str, Any]:
    def target(each: Target) -> dict[str, Any]:
        believed = {"mean": each.mean, "std": each.std}
        taken = {"own": each.own, "found": list(each.found), "median": each.median}
        return {"row": each.number, "params": each.params, "value": each.value, **believed, **taken}

    counts = {"settings": found.settings, "initial": found.initial, "random": found.random}
    return {**counts, "best_measured": target(found.raw), "best_believed": target(found.believed)}
