"""`ceibo backup`: a copy of a study's database in one file."""

from pathlib import Path
from typing import Annotated

import typer

from ceibo.cli.studyfile import load
from ceibo.errors import InputError
from ceibo.study.store import Store


def backup(
    source: Annotated[
        str, typer.Argument(metavar="STUDY.TOML|URL", help="The study file, or a database's URL.")
    ],
    target: Annotated[Path, typer.Argument(help="The file to write, such as lab-copy.db.")],
    storage: Annotated[
        str | None,
        typer.Option(
            help="Database URL instead of the file's.", envvar="CEIBO_STORAGE", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Copy a database with all its studies to one new SQLite file, also while programs use it."""
    if target.exists() and not force:
        raise InputError(f"{target} exists already; name another file, or replace it by --force.")
    url = source if "://" in source else storage or load(Path(source)).storage
    store = Store(url, create=False)
    try:
        store.backup(target, force)
        count = len(store.studies())
    finally:
        store.close()
    typer.echo(f"wrote {count} {'study' if count == 1 else 'studies'} to {target}")
