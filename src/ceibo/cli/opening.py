"""From a study file to its study: opened, begun, or previewed in memory."""

import shlex
from typing import Any, NoReturn

from ceibo.cli.studyfile import StudyFile
from ceibo.cli.toml import to_toml
from ceibo.decide.dimensions import Dimension
from ceibo.decide.outcomes import Outcome
from ceibo.decide.space import Space
from ceibo.errors import InputError, MissingDatabaseError, NotFoundError
from ceibo.study import Study
from ceibo.study.run import create_or_open, first_change
from ceibo.study.store import Store


def open_study(file: StudyFile, storage: str | None) -> Study:
    """The stored study of a file; the error says how to begin one if there is none."""
    study = _open_stored(file, storage)
    _check_same(file, study)
    return study


def _open_stored(file: StudyFile, storage: str | None) -> Study:
    try:
        return Study.open(file.place(storage), file.name)
    except NotFoundError as error:
        _not_begun(file, str(error))
    except MissingDatabaseError as error:
        _not_begun(file, f"study {file.name!r} has not begun: {error}")


def open_or_begin(file: StudyFile, storage: str | None) -> Study:
    """The stored study of a file, made if there is none yet."""
    if file.is_stored:
        return open_study(file, storage)
    study = create_or_open(file.space, file.place(storage), file.name, _options_of(file))
    _check_same(file, study)
    return study


def begin_if_new(file: StudyFile, storage: str | None, new: bool) -> Study:
    """The stored study of a file, begun in a database that exists, or a new one if `new`."""
    if not new:
        try:
            Store(file.place(storage), create=False).close()
        except (MissingDatabaseError, NotFoundError) as error:
            raise NotFoundError(
                f"study {file.name!r} has no database: {str(error).rstrip('.')}. If it has begun"
                f" elsewhere, get its database from there; to begin it here: ceibo ask"
                f" {shlex.quote(str(file.path))} --new"
            ) from None
    return open_or_begin(file, storage)


def open_to_change(file: StudyFile, storage: str | None) -> Study:
    """The stored study of a file that may have another space, and is the same in all else."""
    if file.is_stored:
        raise InputError(
            f"expected a study file, whose space study {file.name!r} is to have, got {file.path}."
        )
    study = _open_stored(file, storage)
    _check_options(file, study)
    return study


def open_or_preview(file: StudyFile, storage: str | None) -> Study:
    """The stored study of a file, or a preview if there is none; writes nothing."""
    try:
        return open_study(file, storage)
    except NotFoundError:
        return preview(file)


def preview(file: StudyFile) -> Study:
    """The study of a file as it would begin, in memory."""
    return Study.create(file.space, name=file.name, **_options_of(file))


def _options_of(file: StudyFile) -> dict[str, Any]:
    """The options of Study.create that a file gives."""
    settings = file.settings
    options: dict[str, Any] = {"direction": file.direction}
    if file.outcomes is not None:
        options = {"outcomes": file.outcomes, "confidence": settings.confidence}
    if "outliers" in file.raw:  # else an older study goes on as it was begun
        options["outliers"] = settings.outliers
    return options | {
        "seed": file.seed,
        "acquisition": settings.acquisition,
        "kernel": settings.kernel,
        "fit": settings.fit,
        "n_initial": settings.n_initial,
        "precision": settings.precision,
    }


def _not_begun(file: StudyFile, text: str) -> NoReturn:
    path = shlex.quote(str(file.path))
    run, ask = f"`ceibo run {path}`", f"`ceibo ask {path} --new`"
    sheet = f"`ceibo sheet {path} plan.xlsx -n 8 --new`"
    ways = f"{sheet} or {ask}" if file.template is None else f"{run}, {ask} or {sheet}"
    raise NotFoundError(f"{text.rstrip('.')}. {ways} begins it.") from None


def _check_same(file: StudyFile, study: Study) -> None:
    """Refuses a file that differs from its study in what decides suggestions."""
    if file.is_stored:
        return
    changed = differences(study.space, file.space)
    if changed:
        change = shlex.join(["ceibo", "change", str(file.path)])
        raise InputError(
            f"{file.path}: the space has changed: {changed[0]}; `{change}` goes on with the file's,"
            f" and all that study {study.name!r} has measured stays; or change the file back, or"
            " give the study another name."
        )
    _check_options(file, study)


def differences(stored: Space, now: Space) -> list[str]:
    """What is another in a file's space than in that of its study, a line for each."""
    lines = []
    for name in dict.fromkeys([*stored.names, *now.names]):
        here, there = now.dimensions.get(name), stored.dimensions.get(name)
        if here != there:
            said = f"parameter {name!r} is {_describe(here)} in the file"
            lines.append(f"{said}, and {_describe(there)} in the study")
    old, new = stored.constraints, now.constraints
    lines += [f"the rule {rule!r} is new" for rule in new if rule not in old]
    lines += [f"the rule {rule!r} is gone" for rule in old if rule not in new]
    return lines


def _check_options(file: StudyFile, study: Study) -> None:
    """Refuses a file that differs from its study in anything but the space."""
    _check_outcomes(file, study)
    options = _options_of(file)
    options.pop("outcomes", None)
    if (change := first_change(study, options)) is not None:
        key = "initial" if change.option == "n_initial" else change.option
        raise _refusal(file, study, key, _spelled(change.given), _spelled(change.stored))


def _check_outcomes(file: StudyFile, study: Study) -> None:
    now, stored = file.outcomes, study.outcomes
    if now is None and stored is None:
        return
    if now is None or stored is None:
        ways = "one objective", "outcomes"
        here, there = ways if now is None else ways[::-1]
        raise _refusal(file, study, "what is measured", f"{here} in the file", there)
    for name in [*stored, *now]:
        if now.get(name) != stored.get(name):
            what = f"the outcomes have changed: {name!r}"
            here = f"{_describe(now.get(name))} in the file"
            raise _refusal(file, study, what, here, _describe(stored.get(name)))
    if now.names != stored.names:
        orders = (", ".join(each.names) for each in (now, stored))
        raise _refusal(file, study, "the order of the outcomes", *orders)


def _describe(each: Dimension | Outcome | None) -> str:
    return "not there" if each is None else to_toml(each.to_json())


def _spelled(value: object) -> str:
    """The value of an option, as in a study file."""
    return to_toml(value) if isinstance(value, bool) else repr(value)


def _refusal(file: StudyFile, study: Study, what: str, now: str, stored: str) -> InputError:
    return InputError(
        f"{file.path}: {what} is {now}, but study {study.name!r} was begun with {stored}; change it"
        " back, or give the study another name."
    )
