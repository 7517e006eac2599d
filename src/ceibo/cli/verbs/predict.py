"""`ceibo predict`: what is believed at settings, measured or not."""

import csv
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ceibo.cli.common import (
    AsJson,
    File,
    Storage,
    StudyName,
    estimate_json,
    print_json,
    print_table,
    warn,
)
from ceibo.cli.files import check_target, write_whole
from ceibo.cli.opening import open_study
from ceibo.cli.source import load
from ceibo.cli.wanted import Settings, names_file, read_wanted
from ceibo.decide import Estimate
from ceibo.decide.outcome_words import estimate_text, wish_of
from ceibo.decide.rules import first_broken
from ceibo.numbers import percent, with_uncertainty
from ceibo.sheets.cells import guard
from ceibo.sheets.exporting import cell_of
from ceibo.study import Study
from ceibo.study.table import column_names
from ceibo.text import one_line


def predict(
    file: File,
    settings: Settings,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for the CSV of predictions.")
    ] = None,
    study_name: StudyName = None,
    storage: Storage = None,
    json: AsJson = False,
) -> None:
    """Say what is believed at settings, measured or not: of a CSV, as a CSV."""
    loaded = load(file, study_name)
    if output is not None:
        check_target(output, loaded, storage)
    is_file, wanted = names_file(settings), read_wanted(settings, loaded)
    study = open_study(loaded, storage)
    broken = [rule for each in wanted if (rule := first_broken(study.space.rules, each))]
    if broken:
        which = "the setting breaks" if len(wanted) == 1 else f"{len(broken)} of the settings break"
        warn(f"{which} a rule of the space, {broken[0].text!r}; nothing is suggested there.")
    estimates = study.predict(wanted)
    if json:
        data = [estimate_json(each) for each in estimates]
        print_json(data if is_file else data[0])
    elif is_file or output is not None:
        text = to_csv(study, estimates)
        if output is None:
            sys.stdout.write(text)
        else:
            write_whole(output, text)
            typer.echo(f"wrote {output}", err=True)
    else:
        _print(study, estimates[0])


def _print(study: Study, estimate: Estimate) -> None:
    if study.outcomes is None:
        typer.echo(with_uncertainty(estimate.mean, estimate.std))
        return
    rows = [("", "expected", "95 % between", "")]
    for name, known in estimate.outcomes.items():
        ends = (with_uncertainty(end, known.std) for end in (known.low, known.high))
        interval = " and ".join(each.partition(" ± ")[0] for each in ends)
        wish = wish_of(study.outcomes[name])
        rows.append((one_line(name, 40), estimate_text(known), interval, wish))
    print_table(rows)
    if estimate.p_feasible is not None:
        typer.echo(f"\nevery limit holds with {percent(estimate.p_feasible)}")


def to_csv(study: Study, estimates: Sequence[Estimate]) -> str:
    """A row per setting: its parameters, and mean and std of what is believed there."""
    heads = ["mean", "std"]
    if study.outcomes is not None:
        known = estimates[0].outcomes if estimates else {}
        heads = [column for name in known for column in (name, f"{name}_std")]
        heads += ["limits_hold"] if study.outcomes.limits else []
    columns = column_names(study.space.names, heads)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(map(guard, [*columns.values(), *heads]))
    for each in estimates:
        values = [each.mean, each.std]
        if study.outcomes is not None:
            values = [part for one in each.outcomes.values() for part in (one.mean, one.std)]
            values += [] if each.p_feasible is None else [each.p_feasible]
        cells = [cell_of(each.params, name) for name in columns]
        writer.writerow([*cells, *map(repr, values)])
    return text.getvalue()
