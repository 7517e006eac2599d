"""Files written whole or not at all, and names of files that are not there."""

import os
import shutil
import uuid
from contextlib import suppress
from pathlib import Path

from ceibo.checks import ask_nearest


def write_whole(path: str | Path, text: str | bytes) -> None:
    """Writes a file in one step: a reader sees the old content or the new, also after a crash."""
    path = Path(path)
    content = text.encode() if isinstance(text, str) else text
    # a device or a pipe, such as /dev/stdout
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(content)
        return
    target = path.resolve()
    beside = target.with_name(f".{target.name[:100]}.{uuid.uuid4().hex}")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
        sync_folder(target.parent)
    finally:
        beside.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Waits until the names in a folder are on the disk, where the system can say so."""
    with suppress(OSError):  # Windows opens no folders, and some file systems sync none
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def ask_nearest_file(path: Path) -> str:
    """The end of a sentence about a file that is not there: did you mean the one beside it?"""
    try:
        beside = [each.name for each in path.absolute().parent.iterdir() if each.is_file()]
    except (OSError, ValueError):
        return "."
    same = [each for each in beside if Path(each).suffix.lower() == path.suffix.lower()]
    return ask_nearest(path.name, same)
