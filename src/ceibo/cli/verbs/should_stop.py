"""`ceibo should-stop`: says whether another measurement is worth its price."""

import typer

from ceibo.cli.common import AsJson, File, Storage, StudyName, print_json
from ceibo.cli.opening import open_study
from ceibo.cli.price import Price
from ceibo.cli.source import load
from ceibo.errors import InputError


def should_stop(
    file: File,
    cost: Price = None,
    study_name: StudyName = None,
    storage: Storage = None,
    json: AsJson = False,
) -> None:
    """Say whether another measurement is worth its price.

    Exit status 0: stop; 1: go on; 2: an error, which is no reason to go on, as in
    `while ceibo should-stop study.toml; [ $? -eq 1 ]; do …; done`.
    """
    loaded = load(file, study_name)
    study = open_study(loaded, storage)
    price = loaded.limits.cost if cost is None else cost
    if price is None:
        raise InputError(f"a price is needed: give --cost, or cost under [stop] in {file}.")
    verdict = study.should_stop(price)
    if json:
        told = {"stop": verdict.stop, "cost": verdict.cost, "remaining": verdict.remaining}
        print_json(told | {"message": verdict.message})
    else:
        typer.echo(verdict.message)
    raise typer.Exit(0 if verdict else 1)
