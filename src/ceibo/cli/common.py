"""What the verbs share: arguments, opening the study, printing."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ceibo.cli import studyfile
from ceibo.cli.studyfile import StudyFile
from ceibo.cli.toml import to_toml
from ceibo.decide import Estimate, Measurement
from ceibo.errors import ConflictError, InputError, NotFoundError, StorageError
from ceibo.study import Study, Trial

File = Annotated[
    Path, typer.Argument(metavar="STUDY.TOML", help="The study file; `ceibo init` writes one.")
]
Storage = Annotated[
    str | None,
    typer.Option(
        help=(
            "Database URL instead of the file's, such as postgresql://user@host/db, shared by many"
            " machines."
        ),
        envvar="CEIBO_STORAGE",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def load(path: Path, storage: str | None) -> tuple[StudyFile, str]:
    """The study file, and the storage to use."""
    file = studyfile.load(path)
    return file, storage or file.storage


def open_study(path: Path, storage: str | None) -> tuple[StudyFile, Study]:
    """The stored study of a file; an error that says how to begin if there is none."""
    file, url = load(path, storage)
    try:
        study = Study.open(url, file.name)
    except NotFoundError as error:
        raise NotFoundError(
            f"{error} `ceibo run {path}` or `ceibo ask {path}` begins it."
        ) from None
    except StorageError as error:
        if "there is no file" in str(error):
            text = (
                f"study {file.name!r} has not begun: {error} `ceibo run {path}` or `ceibo ask"
                f" {path}` begins it."
            )
            raise NotFoundError(text) from None
        raise
    _check_same(file, study)
    return file, study


def open_or_begin(path: Path, storage: str | None) -> tuple[StudyFile, Study]:
    """The stored study of a file, made if there is none yet."""
    file, url = load(path, storage)
    try:
        study = Study.create(file.space, storage=url, name=file.name, **options_of(file))
    except (
        ConflictError
    ):  # it exists, perhaps since a moment ago: several machines may begin at once
        study = Study.open(url, file.name)
        _check_same(file, study)
    return file, study


def open_or_imagine(path: Path, storage: str | None) -> tuple[StudyFile, Study]:
    """The stored study of a file, or the same one in memory if it has not begun: nothing is left
    behind.
    """
    try:
        return open_study(path, storage)
    except NotFoundError:
        file, _ = load(path, storage)
        return file, Study.create(file.space, name=file.name, **options_of(file))


def options_of(file: StudyFile) -> dict[str, Any]:
    """The options of Study.create that a file gives."""
    settings = file.settings
    return {
        "direction": file.direction,
        "seed": file.seed,
        "acquisition": settings.acquisition,
        "kernel": settings.kernel,
        "fit": settings.fit,
        "n_initial": settings.n_initial,
    }


def _check_same(file: StudyFile, study: Study) -> None:
    """What decides suggestions must not change under a study that has begun."""
    _check_same_space(file, study)
    now = options_of(file)
    stored = {"direction": study.direction, "seed": study.seed, **study.settings.to_json()}
    for key in ("direction", "seed", "acquisition", "kernel", "fit", "n_initial"):
        if stored[key] != now[key]:
            shown = "initial" if key == "n_initial" else key
            raise InputError(
                f"{file.path}: {shown} is {now[key]!r}, but study {study.name!r} was begun with"
                f" {stored[key]!r}; change it back, or give the study another name."
            )


def _check_same_space(file: StudyFile, study: Study) -> None:
    now, stored = file.space.dimensions, study.space.dimensions
    for name in [*stored, *now]:
        if now.get(name) == stored.get(name):
            continue
        was, here = (
            to_toml(space[name].to_json()) if name in space else "not there"
            for space in (stored, now)
        )
        raise InputError(
            f"{file.path}: the space has changed: parameter {name!r} is {here} in the file, but"
            f" study {study.name!r} was begun with {was}; change it back, or give the study another"
            " name."
        )


def warn(text: str) -> None:
    """A warning on standard error, as Python's own are shown."""
    typer.echo(f"ceibo: warning: {text}", err=True)


def counted(number: int, noun: str) -> str:
    """A number of things in words: 1 row, 2 rows."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def print_json(data: Any) -> None:
    """One JSON document; numbers that JSON lacks become null."""
    typer.echo(json.dumps(_plain(data), ensure_ascii=False, allow_nan=False))


def _plain(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """An estimate as plain data."""
    return {
        "params": estimate.params,
        "mean": estimate.mean,
        "std": estimate.std,
        "trial": estimate.number,
        "probability": estimate.probability,
    }


def measurement_json(measurement: Measurement) -> dict[str, Any]:
    """A measurement as plain data."""
    return {
        "value": measurement.value,
        "noise": measurement.noise,
        "replicates": list(measurement.replicates),
    }


def trial_json(trial: Trial) -> dict[str, Any]:
    """A trial as plain data; `replaced` is what a measurement was before it was corrected, oldest
    first.
    """
    told = zip(trial.measurements, trial.replaced, strict=True)
    return {
        "trial": trial.number,
        "state": trial.state,
        "params": trial.params,
        "measurements": [
            measurement_json(now) | {"replaced": [measurement_json(each) for each in replaced]}
            for now, replaced in told
        ],
        "reason": trial.reason,
    }


def one_line(value: object, width: int = 60) -> str:
    """A value for people, on one line, without control characters."""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    text = "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )
    return text if len(text) <= width else f"{text[: width - 1]}…"


def params_line(params: dict[str, Any], width: int = 60) -> str:
    """Parameters for people, on one line."""
    return "  ".join(
        f"{one_line(name, width)}={one_line(value, width)}" for name, value in params.items()
    )


def corrected(replaced: Sequence[Measurement]) -> str:
    """What is said behind a value that was corrected: the one before it."""
    return f" (corrected, was {replaced[-1]})" if replaced else ""


def rounded(mean: float, std: float) -> str:
    """A mean with its uncertainty to two digits, and itself to as many as those allow: 71.6
    ± 4.0.
    """
    if not (math.isfinite(mean) and math.isfinite(std) and std > 0):
        return f"{mean:.6g} ± {std:.2g}"
    shown = f"{std:.1e}"  # rounded first, since 0.0996 is 0.10
    decimals = 1 - int(shown.partition("e")[2])
    if decimals > 8 or max(abs(mean), std) >= 1e9:
        return f"{mean:.6g} ± {std:.2g}"
    return (
        f"{round(mean, decimals) + 0.0:.{max(decimals, 0)}f} ± {float(shown):.{max(decimals, 0)}f}"
    )
