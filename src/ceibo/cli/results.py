"""Results as the words of a command tell them: of one objective, or of outcomes by name."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import final

from ceibo.command.outcome import is_pair, parse_line
from ceibo.command.outcomes import read_outcomes, results_line
from ceibo.decide import Measurement, Outcomes
from ceibo.decide.block_names import Block
from ceibo.decide.outcome_words import why_impossible
from ceibo.errors import InputError
from ceibo.study import Trial
from ceibo.study.reported import in_block

_NOISES = 3  # told before: enough to know the usual noise
_VALUES = 5  # told before: enough to know their range


@final
@dataclass(frozen=True)
class Told:
    """Measurements by outcome, "" of a study with one objective.

    `pairs` are those told as two bare numbers, of which the second may be no noise.
    """

    values: dict[str, Measurement]
    pairs: tuple[str, ...]

    @property
    def value(self) -> Measurement | dict[str, Measurement]:
        """What a study is told."""
        return self.values.get("", self.values)

    def within(self, block: Block) -> "Told":
        """The same in a block, if one is given."""
        return replace(self, values={n: in_block(m, block) for n, m in self.values.items()})

    def __str__(self) -> str:
        return str(self.values[""]) if "" in self.values else results_line(self.values)

    def doubts(self, trials: Sequence[Trial], outcomes: Outcomes | None) -> list[str]:
        """Why a value may be wrong, or a noise none, compared with what these trials told."""
        found = why_impossible(outcomes, self.values) if outcomes is not None else []
        for name in self.pairs:
            before = measurements_of(trials, name)
            if why := why_doubtful(self.values[name], before):
                found.append(f"{name}: {why}" if name else why)
        return found


def read_told(
    words: Sequence[str], outcomes: Outcomes | None, replicates: bool, advice: str
) -> Told:
    """The measurements in the words of a command; `advice` ends the error about NaN."""
    lines = _lines(words, outcomes)
    try:
        if outcomes is None:
            values = {"": parse_line(lines[0], replicates)}
        else:
            values = read_outcomes(lines, outcomes, replicates)
    except InputError as error:
        raise InputError(f"the result: {error}") from None
    for name, each in values.items():
        if not each.is_finite:
            what = f"the value of {name!r}" if name else "the value"
            raise InputError(f"{what} is {each.value!r}; {advice}")
    pairs = [name for name, line in zip(values, lines, strict=False) if _is_pair(line, outcomes)]
    return Told(values, () if replicates else tuple(pairs))


def _lines(words: Sequence[str], outcomes: Outcomes | None) -> list[str]:
    """The words of each outcome: one with a = begins the next."""
    line = " ".join(words).strip()
    if outcomes is None or line[:1] in ("{", "["):
        return [line]
    lines: list[str] = []
    for word in words:
        if "=" in word or not lines:
            lines.append(word.strip())
        else:
            lines[-1] = f"{lines[-1]} {word.strip()}"
    return lines


def _is_pair(line: str, outcomes: Outcomes | None) -> bool:
    return is_pair(line if outcomes is None else line.rpartition("=")[2].strip())


def measurements_of(trials: Iterable[Trial], name: str) -> list[Measurement]:
    """What trials told of an outcome, or, without a name, of the objective."""
    if not name:
        return [each for trial in trials for each in trial.measurements]
    return [each for trial in trials for each in trial.outcomes.get(name, ())]


def why_doubtful(measurement: Measurement, told: Sequence[Measurement]) -> str | None:
    """Why the second of two bare numbers may be no noise; None if it is like those told before."""
    value, noise = measurement.value, measurement.noise
    assert noise is not None
    noises = [each.noise for each in told if each.noise is not None]
    usual = statistics.median(noises) if len(noises) >= _NOISES else None
    if noise == 0 and usual == 0:
        return None
    if noise == 0:
        return "a noise of 0 says that the value is exact; leave it out if it is not known."
    values = [each.value for each in told]
    large = noise >= abs(value) / 2
    if len(values) >= _VALUES and noise >= max(values) - min(values):
        large = True
    if not large or (usual is not None and noise <= 3 * usual):
        return None
    return (
        f"{noise:.6g} was recorded as the noise (a standard deviation) of {value:.6g}; two"
        " replicates are told with --replicates, and a number has no gap."
    )


def recorded(trial: Trial) -> str:
    """What a trial has told, on one line."""
    if not trial.names:
        return ", ".join(map(str, trial.measurements))
    pairs = zip(trial.names, trial.measurements, strict=True)
    return ", ".join(f"{name} {each}" for name, each in pairs)


def repeats(trial: Trial) -> int:
    """How often the objective or an outcome of a trial was measured."""
    return max(map(len, trial.outcomes.values()), default=len(trial.measurements))
