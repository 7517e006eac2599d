"""The commands that mend what a sheet and the record say differently."""

import shlex
from typing import Final

from ceibo.decide import Measurement
from ceibo.decide.block_names import DEFAULT_KIND

_STUDY: Final = "STUDY.TOML"


def correction(number: int, outcome: str, measurement: Measurement, key: str | None = None) -> str:
    """The command that puts a measurement in place of the one on record."""
    words = [repr(each) for each in measurement.replicates] or [repr(measurement.value)]
    if measurement.noise is not None and not measurement.replicates:
        words.append(repr(measurement.noise))
    if outcome:
        words[0] = f"{outcome}={words[0]}"
    if measurement.replicates:
        words.append("--replicates")
    for kind, name in measurement.block:
        words += ["--block", name if kind == DEFAULT_KIND else f"{kind}={name}"]
    if key is not None:
        words += ["--key", key]
    return shlex.join(["ceibo", "correct", _STUDY, str(number), *words])


def voiding(number: int, reason: str) -> str:
    """The command that takes back the measurement of a trial."""
    return shlex.join(["ceibo", "void", _STUDY, str(number), reason])
