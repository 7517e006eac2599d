"""Records as JSON lines, one per replication, appended as they come.

A process killed while writing leaves a torn last line. Reading takes what is whole and says what it
left out; the next writer cuts the torn end off before it appends.
"""

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self, final

from ceibo.errors import InputError, StorageError
from ceibo.version import __version__
from ceibo_lab.arithmetic import algorithm
from ceibo_lab.record import FORMAT, Cell, Record

SUFFIXES = (".jsonl", ".jsonl.gz")


@final
@dataclass(frozen=True)
class Read:
    """Records of a folder or file, and sentences about what was left out or is from elsewhere."""

    records: list[Record]
    notes: list[str] = field(default_factory=list)
    tried: dict[str, int] = field(default_factory=dict)
    """Key -> the newest arithmetic that any record of the cell is of, failures among them."""

    @property
    def done(self) -> list[Record]:
        return [record for record in self.records if record["status"] == "done"]

    @property
    def failed(self) -> list[Record]:
        return [record for record in self.records if record["status"] == "failed"]


def read(place: Path) -> Read:
    """All records of a file, or of a folder's files.

    Of several of one cell a finished one stands before a failed one, then that of the newest
    arithmetic, of these the first.
    """
    inside = sorted(path for path in place.glob("*") if path.name.endswith(SUFFIXES))
    files = [place] if place.is_file() else inside
    found: dict[str, Record] = {}
    tried: dict[str, int] = {}
    notes: list[str] = []
    for path in files:
        for record in _whole(path, notes):
            key = record["key"]
            tried[key] = max(tried.get(key, 0), algorithm(record) or 0)
            if _rank(record) > _rank(found.setdefault(key, record)):
                found[key] = record
    others = sorted({r["versions"]["ceibo"] for r in found.values()} - {__version__})
    if others:
        notes.append(f"some records were made by ceibo {', '.join(others)}; this is {__version__}.")
    return Read(list(found.values()), notes, tried)


def _rank(record: Record) -> tuple[bool, int]:
    """Of several records of one cell the one with the largest stands."""
    return record["status"] == "done", algorithm(record) or 0


def _whole(path: Path, notes: list[str]) -> Iterator[Record]:
    """The whole records of a file, in order."""
    strange = 0
    for number, line in enumerate(_lines(path, notes), start=1):
        try:
            record = json.loads(line)
            Cell.from_json(record["cell"])
            known = record["format"] == FORMAT and record["status"] in ("done", "failed")
        except (ValueError, TypeError, LookupError, InputError):
            notes.append(f"{path.name}: line {number} is not whole and was left out.")
            continue
        if (
            known
            and isinstance(record.get("key"), str)
            and isinstance(record.get("versions"), dict)
        ):
            yield record
        else:
            strange += 1
    if strange:
        notes.append(
            f"{path.name}: {strange} records of another format (this is format {FORMAT}) were left"
            " out."
        )


def _lines(path: Path, notes: list[str]) -> Iterator[bytes]:
    with (
        path.open("rb") as raw,
        gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw as stream,
    ):
        try:
            for line in stream:
                if line.strip():
                    yield line
        except (EOFError, gzip.BadGzipFile, zlib.error):
            notes.append(
                f"{path.name}: the compressed file is damaged or ends early, and was read as far as"
                " it goes."
            )


@final
class Writer:
    """Appends records to a file; what `add` returned from is on the disk. One writer at a time."""

    def __init__(self, path: Path) -> None:
        self.path, self.notes = path, list[str]()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = path.open("ab")
        self._lock()
        self._mend()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._stream.close()

    def add(self, record: Record) -> None:
        self._stream.write(_line(record))
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # not on this system: two writers are then not kept apart
            return
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._stream.close()
            raise StorageError(
                f"another process is writing {self.path}; wait for it or use another folder."
            ) from error

    def _mend(self) -> None:
        """Cuts off a torn last line."""
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            self._stream.truncate(whole)
            self.notes.append(
                f"{self.path.name}: a torn last line of {len(content) - whole} bytes was cut off."
            )


def pack(records: Iterable[Record], path: Path) -> int:
    """Writes records to a compressed file, sorted by key; returns how many there are."""
    ordered = sorted(records, key=lambda record: str(record["key"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as stream:
        for record in ordered:
            stream.write(_line(record))
    return len(ordered)


def timeless(record: Record) -> Record:
    """The record without what differs between two runs of the same cell: its times."""
    return {name: value for name, value in record.items() if name != "run"}


def _line(record: Record) -> bytes:
    return (
        json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        + b"\n"
    )
