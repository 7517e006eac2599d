"""The file in which a search keeps its candidates, so that it can go on after an interruption.

A line of JSON per candidate, written as soon as its scores are known, below a line that says what
the search is about. A last line that was cut short is left out and written over.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from ceibo.errors import InputError
from ceibo.integrations.sklearn.search import Candidate, Search
from ceibo.integrations.sklearn.space import POSITION

_MOST_REASON: Final = 2000  # characters of scikit-learn's message
_OPTIONS: Final = ("acquisition", "n_initial", "confidence")  # settings that a search may have
_WORDS: Final = {"metric": "metric", "seed": "random_state", "space": "param_distributions"}
_MANY: Final = {"data": "data", "folds": "folds", "fit": "parameters of fit"}

Out = dict[str, Any]  # what scikit-learn notes of one fit


@final
class Kept:
    """The candidates of earlier runs, and a place for further ones."""

    def __init__(self, path: str | os.PathLike[str], about: Mapping[str, Any]) -> None:
        if "://" in str(path):
            raise InputError(
                f"storage must be a file, such as search.jsonl, got {str(path)!r}; to_study makes a"
                " study in a database of a search."
            )
        self.path = Path(path)
        lines, self._size = _read(self.path)
        self.rows = lines[1:]
        self.about = dict(about)
        if lines:
            self._check(lines[0])
        else:
            self._write(self.about)

    @property
    def seed(self) -> int:
        """The seed of the search, which goes on with the one it began with."""
        return int(self.about["seed"])

    def add(self, batch: Sequence[Candidate], out: Sequence[Out]) -> None:
        """Keeps candidates with their fits, equally many of each."""
        splits = len(out) // len(batch)
        for place, each in enumerate(batch):
            fits = out[splits * place : splits * (place + 1)]
            self._write({"x": each.x.tolist(), "fits": [_plain(fit) for fit in fits]})

    def add_failed(self, batch: Sequence[Candidate], reason: str) -> None:
        """Keeps candidates none of whose fits gave a score."""
        for each in batch:
            self._write({"x": each.x.tolist(), "failed": reason[-_MOST_REASON:]})

    def restore(self, search: Search) -> list[Out]:
        """Gives a search the candidates of earlier runs; returns the fits of those evaluated."""
        out: list[Out] = []
        for row in self.rows:
            candidate = search.at(np.array(row["x"]))
            if "fits" in row:
                search.evaluated.append(candidate)
                out += row["fits"]
            else:
                search.failed.append(candidate)
        return out

    def _check(self, before: Mapping[str, Any]) -> None:
        """Refuses a file of another search."""
        if self.about["seed"] is None:
            self.about["seed"] = before.get("seed")
        for key, value in self.about.items():
            old = before.get(key)
            if old == value:
                continue
            if why := _why_earlier(key, old, value):
                raise InputError(
                    f"storage: {self.path} has a search of an earlier ceibo, which {why}; give this"
                    " one a file of its own."
                )
            raise InputError(
                f"storage: {self.path} has a search with {_difference(key, old, value)}; give this"
                " one a file of its own, or the options and data it began with."
            )

    def _write(self, line: Mapping[str, Any]) -> None:
        text = (json.dumps(line) + "\n").encode()
        if not self.path.absolute().parent.is_dir():
            raise InputError(f"storage: the folder of {self.path} does not exist; create it first.")
        with self.path.open("ab") as file:
            if file.seek(0, os.SEEK_END) < self._size:
                raise InputError(f"storage: {self.path} was cut while a search was using it.")
            if file.tell() > self._size and _read(self.path)[1] != self._size:
                raise InputError(f"storage: another search is writing into {self.path}.")
            file.truncate(self._size)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        self._size += len(text)


def _why_earlier(key: str, old: Any, value: Any) -> str:
    """What a ceibo did that no options of this one do; empty if options can be the difference."""
    if not isinstance(old, dict):
        return ""
    if key == "space":
        known = [name for name in value if f"{name} ({POSITION})" in old]
        return "searched lists of ascending numbers by their positions" if known else ""
    others = [name for name in _differing(old, value) if name not in _OPTIONS]
    if key != "settings" or not others:
        return ""
    if "outliers" in others:
        return "discounted scores that looked wrong"
    return f"had other settings ({_shown(others, old, value)})"


def _difference(key: str, old: Any, value: Any) -> str:
    """What is different in the search that a file has."""
    if key == "data" and isinstance(old, dict):
        names = _differing(old, value)
        parts = [f"other {_MANY[name]}" if name in _MANY else f"another {name}" for name in names]
        return " and ".join(parts)
    if key != "settings" or not isinstance(old, dict):
        return f"another {_WORDS.get(key, key)}"
    if ("confidence" in old) != ("confidence" in value):
        return "limits, and this one has none" if "confidence" in old else "no limits"
    return f"other settings ({_shown(_differing(old, value), old, value)})"


def _differing(old: Mapping[str, Any], value: Mapping[str, Any]) -> list[str]:
    return [name for name in {**old, **value} if old.get(name) != value.get(name)]


def _shown(names: Sequence[str], old: Mapping[str, Any], value: Mapping[str, Any]) -> str:
    return "; ".join(f"{name}={old.get(name)!r}, now {value.get(name)!r}" for name in names)


def _read(path: Path) -> tuple[list[dict[str, Any]], int]:
    """The whole lines of a file, and the bytes that they take."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise InputError(f"storage: cannot read {path}: {error.strerror}.") from None
    whole = content[: content.rfind(b"\n") + 1]
    try:
        lines = [json.loads(line) for line in whole.splitlines()]
    except ValueError:
        lines = [None]
    if any(not isinstance(line, dict) for line in lines) or (lines and "search" not in lines[0]):
        raise InputError(f"storage: {path} is not a file that a search has written.")
    return lines, len(whole)


def _plain(out: Out) -> Out:
    """Numbers of numpy as Python's, which JSON writes exactly."""
    return json.loads(json.dumps(out, default=float))  # type: ignore[no-any-return]  # a dict


def where_kept(storage: str | os.PathLike[str] | None) -> str:
    """What becomes of the candidates of a search that is interrupted."""
    if storage is None:
        return (
            "CeiboSearchCV(…, storage='search.jsonl') keeps every candidate and goes on from there."
        )
    return (
        f"Every candidate scored is kept in {os.fspath(storage)}; the same search goes on from it."
    )
