"""`ceibo backup`: a copy of a study's database in one file."""

from pathlib import Path
from typing import Annotated

import typer

from ceibo.cli.common import File, Storage
from ceibo.cli.source import url_of
from ceibo.cli.studyfile import load
from ceibo.errors import InputError
from ceibo.study.store import Store


def backup(
    file: File,
    target: Annotated[Path, typer.Argument(help="The file to write, such as lab-copy.db.")],
    storage: Storage = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Copy a database with all its studies to one new SQLite file, also while programs use it."""
    if target.exists() and not force:
        raise InputError(f"{target} exists already; name another file, or replace it by --force.")
    named = Path(file)
    if url_of(file) is None and target.exists() and named.exists() and target.samefile(named):
        raise InputError(f"{target} is the study file and would be lost; name another file.")
    store = Store(url_of(file) or storage or load(Path(file)).storage, create=False)
    try:
        store.backup(target, force)
        count = len(store.studies())
    finally:
        store.close()
    typer.echo(f"wrote {count} {'study' if count == 1 else 'studies'} to {target}")
