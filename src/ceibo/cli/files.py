"""Files that commands write: whole or not at all, and never over a study."""

from pathlib import Path

from ceibo import files
from ceibo.cli.studyfile import StudyFile
from ceibo.errors import InputError
from ceibo.study.store.url import parse_url

_SQLITE_MAGIC = b"SQLite format 3\0"


def check_target(path: Path, file: StudyFile, storage: str | None) -> None:
    """Refuses, before any work is done, to write over the study or where nothing can be written."""
    own = [file.path.resolve()]
    for url in {file.storage, file.place(storage)}:
        parsed = parse_url(url)
        if parsed.get_backend_name() == "sqlite" and parsed.database:
            database = Path(parsed.database).resolve()
            ends = ("", "-wal", "-shm", "-journal")
            own += [database.with_name(f"{database.name}{end}") for end in ends]
    linked = [each for each in own if path.exists() and each.exists() and path.samefile(each)]
    if path.resolve() in own or linked:
        lost = f"{path} belongs to the study itself and would be lost"
        raise InputError(f"{lost}; write to another file.")
    check_writable(path)


def check_writable(path: Path) -> None:
    """Refuses a path that is a folder or a database, or whose folder does not exist."""
    if not path.absolute().parent.is_dir():
        why = f"the folder {path.parent} does not exist"
        raise InputError(f"cannot write {path}: {why}; create it first.")
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder; name a file in it.")
    if is_database(path):
        what = f"{path} is a database, perhaps of another study"
        raise InputError(f"{what}; write to another file.")


def is_database(path: Path) -> bool:
    """Whether a file is an SQLite database; false also if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE_MAGIC)) == _SQLITE_MAGIC
    except (OSError, ValueError):  # a name that no file can have is a ValueError
        return False


def write_whole(path: Path, text: str) -> None:
    """Writes a file in one step; raises an InputError that says why if it cannot."""
    check_writable(path)
    try:
        files.write_whole(path, text)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}.") from None
