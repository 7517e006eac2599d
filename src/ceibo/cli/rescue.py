"""A study whose file was deleted while it was at work: what is left of it is saved."""

from contextlib import suppress
from pathlib import Path

from ceibo.cli.common import warn
from ceibo.errors import CeiboError
from ceibo.study import Study
from ceibo.study.store.url import parse_url


def rescue(study: Study) -> None:
    """Saves what an open study still has of a file that was deleted, renamed or replaced."""
    store = study.ledger.store
    file = Path(parse_url(store.url).database or "")
    if not store.is_moved:
        return
    folders = [folder for folder in (file.absolute().parent, Path.cwd()) if folder.is_dir()]
    for folder in folders:
        target = _free_name(folder / f"{file.stem}-rescued{file.suffix}")
        with suppress(CeiboError):
            study.backup(target)
            warn(f"{file} is no longer there; what had been recorded in it is saved in {target}.")
            return


def _free_name(path: Path) -> Path:
    count = 1
    free = path
    while free.exists():
        count += 1
        free = path.with_name(f"{path.stem}-{count}{path.suffix}")
    return free
