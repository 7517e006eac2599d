"""`ceibo serve`: the page of a live study, in a browser on this computer."""

from typing import Annotated

import typer

from ceibo.cli.common import File, New, Storage, StudyName, warn
from ceibo.cli.opening import begin_if_new
from ceibo.cli.source import load


def serve(  # noqa: PLR0913 - one parameter per option of the command
    file: File,
    host: Annotated[
        str, typer.Option(help="Address to listen at; others than 127.0.0.1 let the network in.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Port to listen at; a free one unless told."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the usual browser.")
    ] = True,
    new: New = False,
    study_name: StudyName = None,
    storage: Storage = None,
) -> None:
    """Open the study as a page: what to do next, the answer, a profiler; Ctrl-C ends it."""
    from ceibo.web.security import is_loopback
    from ceibo.web.server import open_browser, prepare

    loaded = load(file, study_name)
    study = begin_if_new(loaded, storage, new)
    served = prepare(study, host=host, port=port, cost=loaded.limits.cost)
    if not is_loopback(host):
        warn(
            f"--host {host} lets everybody in the network reach the page, without encryption; who"
            " has the link can change the study."
        )
    try:
        typer.echo(served.link)
        typer.echo("Whoever has this link can change the study. Ctrl-C ends the page.", err=True)
        served.run((lambda: open_browser(served.link)) if browser else None)
    except KeyboardInterrupt:  # the usual end, before the server was ready
        pass
    finally:
        study.close()
