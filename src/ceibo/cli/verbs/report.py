"""`ceibo report`: writes a page that shows the whole study."""

import time
from pathlib import Path
from typing import Annotated

import typer

from ceibo.cli.common import File, Output, Storage, StudyName
from ceibo.cli.files import check_target, write_whole
from ceibo.cli.opening import open_study
from ceibo.cli.source import load


def report(
    file: File,
    output: Output = Path("report.html"),
    watch: Annotated[
        bool, typer.Option("--watch", help="Write it again as trials arrive; the page reloads.")
    ] = False,
    every: Annotated[
        float, typer.Option(min=0.2, help="Seconds between looks at the study, with --watch.")
    ] = 5.0,
    study_name: StudyName = None,
    storage: Storage = None,
) -> None:
    """Write a self-contained HTML report that works offline."""
    from ceibo.report import render_report

    loaded = load(file, study_name)
    check_target(output, loaded, storage)
    study = open_study(loaded, storage)
    cost = loaded.limits.cost
    seen = study.ledger.refresh().seq
    write_whole(output, render_report(study, cost=cost, refresh=every if watch else None))
    typer.echo(f"wrote {output}")
    try:
        while watch:
            time.sleep(every)
            if (now := study.ledger.refresh().seq) != seen:
                write_whole(output, render_report(study, cost=cost, refresh=every))
                seen = now
    except KeyboardInterrupt:
        # the last page does not reload
        write_whole(output, render_report(study, cost=cost))
        raise typer.Exit(0) from None
