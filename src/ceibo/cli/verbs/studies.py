"""`ceibo studies`: lists the studies of a database."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer

from ceibo.cli.common import AsJson, File, Storage, print_json, print_table
from ceibo.cli.source import url_of
from ceibo.cli.studyfile import load
from ceibo.errors import CeiboError
from ceibo.study import Study
from ceibo.study.store import Store, StudyRecord
from ceibo.study.store.records import STATES
from ceibo.study.trial_line import aims_line
from ceibo.text import one_line


def studies(file: File, storage: Storage = None, json: AsJson = False) -> None:
    """List the studies of a database with the number of their trials."""
    url = url_of(file) or storage or load(Path(file)).storage
    store = Store(url, create=False)
    try:
        found = [_facts(url, record) for record in store.studies()]
        place = store.url
    finally:
        store.close()
    if json:
        print_json(found)
    elif not found:
        typer.echo(f"there are no studies in {place} yet")
    else:
        _print(found)


def _facts(url: str, record: StudyRecord) -> dict[str, Any]:
    """What is shown of a study; one that cannot be opened here says why."""
    begun = datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%d %H:%M UTC")
    facts: dict[str, Any] = {"study": record.name, "begun": begun}
    try:
        study = Study.open(url, record.name)
    except CeiboError as error:
        return facts | {"error": str(error)}
    try:
        aim = study.direction if study.outcomes is None else aims_line(study.outcomes)
        snapshot = study.ledger.refresh()
        counts = {state: len(snapshot.in_state(state)) for state in STATES}
        trials = len(snapshot.trials)
        return facts | {"aim": aim, "parameters": len(study.space), "trials": trials} | counts
    finally:
        study.close()


def _print(found: list[dict[str, Any]]) -> None:
    rows = [("study", "aim", "parameters", "trials", "done", "failed", "under way", "begun")]
    for each in found:
        name = one_line(each["study"], 40)
        if "error" in each:
            rows.append((name, "cannot be opened here", "", "", "", "", "", each["begun"]))
            continue
        counts = [each["parameters"], each["trials"], each["done"], each["failed"]]
        open_ = each["running"] + each["queued"]
        rows.append((name, one_line(each["aim"], 60), *map(str, (*counts, open_)), each["begun"]))
    print_table(rows)
    for each in found:
        if "error" in each:
            typer.echo(f"\n{one_line(each['study'], 40)}: {each['error']}")
