"""The study file, study.toml: what to optimise, with which command, until when.

Paths in the file (of the storage, the program, its files) are relative to the file's folder.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, final

from ceibo.checks import (
    LONGEST_LEASE,
    TEN_YEARS,
    ask_nearest,
    check_choice,
    check_confidence,
    check_confirm,
    check_positive,
    check_seconds,
    check_seed,
    check_whole,
)
from ceibo.cli.toml import given_in_toml
from ceibo.command.placeholders import Template
from ceibo.decide import Direction, Outcomes, Precision, Settings, Space
from ceibo.decide.outcomes import MOST_GOALS, outcome_from_json
from ceibo.decide.settings import DEFAULT_CONFIDENCE
from ceibo.errors import InputError, show_value
from ceibo.files import ask_nearest_file
from ceibo.numbers import to_number
from ceibo.study import Limits
from ceibo.study.confirming import check_one_goal
from ceibo.study.limits import SHORTEST_LEASE, USUAL_FAILURES, Usual

SQLITE: Final = "sqlite:///"
_TOP: Final = (
    *("name", "direction", "storage", "seed", "acquisition", "kernel", "fit", "initial"),
    *(
        "outliers",
        "confidence",
        "space",
        "constraints",
        "outcomes",
        "precision",
        "command",
        "run",
        "stop",
    ),
)
_CONSTRAINTS: Final = ("rules",)
_COMMAND: Final = ("argv", "timeout")
_RUN: Final = ("jobs", "lease")
_STOP: Final = ("trials", "cost", "time", "failures", "confirm")


@final
@dataclass(frozen=True)
class StudyFile:
    """A study file, read and checked; it has a direction or outcomes.

    One that `is_stored` has no file: it is what a database has of a study.
    """

    path: Path
    name: str
    space: Space
    direction: Direction | None
    seed: int
    storage: str
    settings: Settings
    template: Template | None
    limits: Limits
    jobs: int = 1
    outcomes: Outcomes | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)
    is_stored: bool = False

    def place(self, storage: str | None) -> str:
        """The URL of the database, `storage` if that is given beside a file."""
        return self.storage if self.is_stored or not storage else storage


def load(file: Path | str) -> StudyFile:
    """Reads a study file; every error names the file and what is wrong in it."""
    path = Path(file)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        meant = ask_nearest_file(path)
        raise InputError(f"there is no study file {path}{meant} `ceibo init` writes one.") from None
    except ValueError:
        raise InputError(f"no file can have the name {str(path)!r}.") from None
    except (IsADirectoryError, PermissionError) as error:
        raise InputError(f"cannot read {path}: {error.strerror}.") from None
    return parse(content, path)


def parse(content: bytes, path: Path) -> StudyFile:
    """The study file with this content, as if it were at this path."""
    try:
        # a ValueError too is an integer of thousands of digits
        raw = tomllib.loads(content.decode("utf-8-sig"))
        return _read(path, raw)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except RecursionError:
        raise InputError(f"{path}: its tables or lists are nested too deeply to be read.") from None
    except ValueError as error:
        what = f"{path} is not valid TOML"
        if path.suffix.lower() != ".toml":
            what = (
                f"expected a study file, which `ceibo init` writes (.toml), or a database, got"
                f" {path}, which is neither; as TOML"
            )
        raise InputError(f"{what}: {error}.") from None


def _read(path: Path, raw: dict[str, Any]) -> StudyFile:
    _check_keys(raw, _TOP, "the file")
    command, run, stop = (_table(raw, key) for key in ("command", "run", "stop"))
    _check_keys(command, _COMMAND, "[command]")
    _check_keys(run, _RUN, "[run]")
    _check_keys(stop, _STOP, "[stop]")
    if not raw.get("space"):
        example = 'as in x = {type = "float", low = 0, high = 1}'
        missing = "there is no [space] to vary"
        raise InputError(f"{missing}; it needs at least one parameter, {example}.")
    space = _space(_table(raw, "space"), _rules(_table(raw, "constraints")))
    outcomes = _outcomes(raw)
    name = _text(raw, "name", path.stem)
    usual = Settings()
    settings = Settings(
        acquisition=_text(raw, "acquisition", usual.acquisition),
        kernel=_text(raw, "kernel", usual.kernel),
        fit=_text(raw, "fit", usual.fit),
        n_initial=_whole(raw, "initial", "initial"),
        confidence=_confidence(raw, outcomes),
        outliers=_truth(raw, "outliers", usual.outliers),
        precision=Precision.from_json(raw["precision"]) if "precision" in raw else None,
    )
    cost = stop.get("cost")
    limits = Limits(
        n_trials=_whole(stop, "trials", "stop.trials"),
        cost=None if cost is None else check_positive(cost, "stop.cost"),
        timeout=_seconds(stop, "time", "stop.time"),
        # a command that fails in the first trial is mostly mistyped, whatever the file says
        max_failures=Usual(_whole(stop, "failures", "stop.failures") or USUAL_FAILURES),
        lease=_seconds(run, "lease", "run.lease", SHORTEST_LEASE, LONGEST_LEASE) or 60.0,
        confirm=check_confirm(stop.get("confirm", 0), "stop.confirm"),
    )
    _check_confirm(limits, outcomes, "stop.confirm")
    if outcomes is not None and len(outcomes.goals) > 1 and limits.cost is not None:
        raise InputError(
            "stop.cost is in the units of one goal, and an improvement of several has no such"
            " units; end the study by trials or time."
        )
    direction = None
    if outcomes is None:
        direction = Direction(
            check_choice(raw.get("direction", "minimize"), "direction", Direction)
        )
    return StudyFile(
        path=path,
        name=name,
        space=space,
        direction=direction,
        seed=check_seed(raw.get("seed", 0)),
        storage=_resolve_storage(_text(raw, "storage", storage_of(path.stem)), path),
        settings=settings,
        template=_template(command, space, path) if command else None,
        limits=limits,
        jobs=_whole(run, "jobs", "run.jobs") or 1,
        outcomes=outcomes,
        raw=raw,
    )


def with_trials(file: StudyFile, given: int | None) -> StudyFile:
    """The file with another number of trials in all, if one is given in the shell."""
    if given is None:
        return file
    limits = replace(file.limits, n_trials=given)
    _check_confirm(limits, file.outcomes, "--trials")
    return replace(file, limits=limits)


def with_confirm(file: StudyFile, given: str | None) -> StudyFile:
    """The file with another share of its trials for a last look, if one is given in the shell."""
    if given is None:
        return file
    value = to_number(given)
    confirm = check_confirm(given if value is None else value, "--confirm")
    limits = replace(file.limits, confirm=confirm)
    _check_confirm(limits, file.outcomes, "--confirm")
    return replace(file, limits=limits)


def _check_confirm(limits: Limits, outcomes: Outcomes | None, name: str) -> None:
    """Refuses a last look that cannot be: its trials are the last of a known number of them."""
    if not limits.confirm:
        return
    try:
        limits.or_default()
        check_one_goal(outcomes)
    except InputError as error:
        said = str(error).replace("n_trials", "trials, under [stop],")
        raise InputError(f"{name}: {said.removeprefix('confirm: ')}") from None


def _rules(table: Mapping[str, Any]) -> list[str]:
    _check_keys(table, _CONSTRAINTS, "[constraints]")
    rules = table.get("rules", [])
    if not isinstance(rules, list) or not all(isinstance(each, str) for each in rules):
        wanted = 'a list of rules in quotes, as in ["a + b <= 1"]'
        raise InputError(f"constraints.rules: expected {wanted}, got {show_value(rules)}.")
    return rules


def _space(table: Mapping[str, Any], rules: list[str]) -> Space:
    try:
        space = Space.from_json(table)
    except InputError as error:
        raise InputError(error.render(given_in_toml)) from None
    try:
        return Space(space, rules)
    except InputError as error:
        raise InputError(f"constraints.rules: {error}") from None


def _outcomes(raw: Mapping[str, Any]) -> Outcomes | None:
    """The outcomes of a file, or None if it has one objective."""
    if "outcomes" not in raw:
        return None
    if "direction" in raw:
        raise InputError(
            'direction: each outcome has its own, as in yield = {goal = "maximize"}; leave'
            " direction out beside [outcomes]."
        )
    table = _table(raw, "outcomes")
    goals = [name for name, each in table.items() if outcome_from_json(name, each).is_goal]
    if not 1 <= len(goals) <= MOST_GOALS:
        raise InputError(
            f'outcomes: expected one to {MOST_GOALS} goals, as in yield = {{goal = "maximize"}},'
            f" got {len(goals)}; what decides nothing is {{watch = true}}."
        )
    return Outcomes.from_json(table)


def _confidence(raw: Mapping[str, Any], outcomes: Outcomes | None) -> float | None:
    """With which the limits of an answer hold; None without outcomes."""
    if outcomes is not None:
        return check_confidence(raw.get("confidence", DEFAULT_CONFIDENCE))
    if "confidence" in raw:
        raise InputError(
            "confidence is with which the limits of an answer hold, and there are no [outcomes];"
            " leave it out."
        )
    return None


def _template(command: Mapping[str, Any], space: Space, path: Path) -> Template:
    argv = command.get("argv")
    if not isinstance(argv, list) or not argv or not all(isinstance(each, str) for each in argv):
        example = '["python", "train.py", "--rate", "{rate}"]'
        wanted = f"a list of strings, as in {example}; no shell reads it"
        raise InputError(f"command.argv: expected {wanted}, got {show_value(argv)}.")
    timeout = _seconds(command, "timeout", "command.timeout")
    return Template(tuple(argv), space, path.absolute().parent, timeout)


def storage_of(name: str) -> str:
    """The default storage for a study of this name: a file beside the study file."""
    file = quote(name.replace("/", "-").replace("\\", "-"))
    return f"{SQLITE}{file}.db"


def quote(path: str) -> str:
    """The path of a database's file as it stands in a URL."""
    return path.replace("%", "%25").replace("?", "%3F")


def _resolve_storage(storage: str, path: Path) -> str:
    """The storage's URL; a relative SQLite file lies in the folder of the study file."""
    file = storage.removeprefix(SQLITE)
    name, mark, query = file.partition("?")
    if storage.startswith(SQLITE) and mark and "=" not in query:
        why = f"the ? in {storage!r} would end the file's name"
        raise InputError(f"storage: {why}; write {SQLITE}{name}%3F{query}.")
    if not storage.startswith(SQLITE) or not file or file == ":memory:" or Path(file).is_absolute():
        if storage in ("sqlite://", f"{SQLITE}", f"{SQLITE}:memory:"):
            why = f"{storage!r} is memory, which is gone when a command ends"
            raise InputError(f"storage: {why}; name a file.")
        return storage
    return f"{SQLITE}{Path(quote(str(path.absolute().parent))) / file}"


def _check_keys(table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            end = ask_nearest(key, known)
            raise InputError(
                f"unknown key {show_value(key)} in {where}{end} Known are {', '.join(known)}."
            )


def _table(raw: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    table = raw.get(key, {})
    if not isinstance(table, Mapping):
        raise InputError(f"{key}: expected a table, [{key}], got {show_value(table)}.")
    return table


def _text(raw: Mapping[str, Any], key: str, default: str) -> str:
    value = raw.get(key, default)
    if not isinstance(value, str) or not value:
        raise InputError(f"{key}: expected text in quotes, got {show_value(value)}.")
    return value


def _truth(raw: Mapping[str, Any], key: str, default: bool) -> bool:
    value = raw.get(key, default)
    if not isinstance(value, bool):
        raise InputError(f"{key}: expected true or false, got {show_value(value)}.")
    return value


def _whole(raw: Mapping[str, Any], key: str, name: str) -> int | None:
    value = raw.get(key)
    return None if value is None else check_whole(value, name)


def _seconds(
    raw: Mapping[str, Any], key: str, name: str, low: float = 0.0, high: float = TEN_YEARS
) -> float | None:
    value = raw.get(key)
    return None if value is None else check_seconds(value, name, low, high)
