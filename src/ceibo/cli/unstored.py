"""What is said of an error, with how to tell again what the database did not take."""

import json
import shlex

from ceibo.command.outcomes import result_json, results_json, results_line
from ceibo.decide import Measurement
from ceibo.errors import NotStoredError, StorageError


def sentences(error: Exception, study: str | None) -> list[str]:
    """What to say about an error: a sentence per measurement that the database did not take.

    `study` is the study file as it was named, if it was.
    """
    file = "STUDY.TOML" if study is None else shlex.quote(study)
    unstored = error.unstored if isinstance(error, StorageError) else ()
    if not isinstance(error, NotStoredError):
        return [str(error), *(_retell(each, file) for each in unstored)]
    others = [each for each in unstored if each.number != error.number]
    return [_retell(each, file) for each in (error, *others)]


def _retell(error: NotStoredError, file: str) -> str:
    """Says how to tell a measurement again that the database did not take."""
    told = error.measurement
    if isinstance(told, Measurement) and (told.count is not None or told.block):
        result, shown = shlex.quote(json.dumps(result_json(told), ensure_ascii=False)), str(told)
    elif isinstance(told, Measurement):
        words = told.replicates or (told.value,)
        if told.noise is not None and not told.replicates:
            words = (told.value, told.noise)
        result = " ".join(map(repr, words)) + (" --replicates" if told.replicates else "")
        shown = str(told)
    else:
        assert isinstance(told, dict)
        result, shown = shlex.quote(results_json(told)), results_line(told)
    key = f" --key {shlex.quote(error.key)}" if error.key else ""
    again = f"ceibo tell {file} {error.number} {result}{key}"
    cause = error.__cause__
    why = "." if cause is None else f": {str(cause).rstrip('.')}."
    return (
        f"trial {error.number} was measured, {shown}, but this was not recorded{why} Once the"
        f" database answers: {again}"
    )
