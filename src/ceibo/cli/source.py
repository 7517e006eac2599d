"""Where a study is, as a shell names it: a study file, the URL of a database, or its file."""

from pathlib import Path

from ceibo.cli import studyfile
from ceibo.cli.files import is_database
from ceibo.cli.studyfile import SQLITE, StudyFile
from ceibo.errors import InputError, NotFoundError
from ceibo.study import Limits, Study
from ceibo.study.store import Store


def url_of(target: str) -> str | None:
    """The URL of the database that is named, or None if it is a study file."""
    if "://" in target:
        return target
    return f"{SQLITE}{studyfile.quote(target)}" if is_database(Path(target)) else None


def names_study(target: str) -> bool:
    """Whether a name is that of a study file or a database, and not of a table."""
    return target.lower().endswith(".toml") or url_of(target) is not None


def load(target: str, study: str | None = None) -> StudyFile:
    """What a study file says, or a stored study as such a file would say it.

    `study` names one of several in a database.
    """
    url = url_of(target)
    if url is not None:
        return _file_of(target, url, study)
    file = studyfile.load(Path(target))
    if study not in (None, file.name):
        raise InputError(
            f"--study: {target} is the file of study {file.name!r}, got {study!r}; give the URL of"
            " the database in place of the file for another of its studies."
        )
    return file


def _file_of(target: str, url: str, name: str | None) -> StudyFile:
    """A stored study as a study file without a command, whose limits are the usual ones."""
    study = Study.open(url, name or _only_study(url))
    try:
        return StudyFile(
            path=Path(target),
            name=study.name,
            space=study.space,
            direction=study.ledger.direction if study.outcomes is None else None,
            seed=study.seed,
            storage=url,
            settings=study.settings,
            template=None,
            limits=Limits(),
            outcomes=study.outcomes,
            is_stored=True,
        )
    finally:
        study.close()


def _only_study(url: str) -> str:
    """The name of the only study in a database."""
    store = Store(url, create=False)
    try:
        names = [each.name for each in store.studies()]
        place = store.url
    finally:
        store.close()
    if not names:
        raise NotFoundError(f"there is no study in {place} yet; `ceibo init` begins with a file.")
    if len(names) > 1:
        listed = ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")
        raise InputError(
            f"there are {len(names)} studies in {place}; say which with --study: {listed}."
        )
    return names[0]
