"""The progress of a run: a line per finished trial, and one for the whole study."""

import time
from contextlib import suppress
from typing import Self, final

from rich.text import Text

from ceibo.decide.estimate import Estimate
from ceibo.decide.stopping import Verdict
from ceibo.decide.suspects import Suspect, sentences_about
from ceibo.errors import NoMeasurementError
from ceibo.numbers import percent, rounded, with_uncertainty
from ceibo.study.record import Record
from ceibo.study.screens import find_screen
from ceibo.study.store import DONE, FAILED, WITHDRAWN
from ceibo.study.trial import Trial
from ceibo.study.trial_line import outcome_line
from ceibo.text import params_line, plural


@final
class Progress:
    """Shows a run as it goes, if wanted; None means in a terminal and in a notebook alone."""

    def __init__(self, study: Record, n_trials: int | None, wanted: bool | None) -> None:
        self.study, self.n_trials = study, n_trials
        self.screen = find_screen(wanted)
        self.began = time.monotonic()
        self.count = self.running = 0  # of trials ended and under way
        self.ended = False
        self.best: Estimate | None = None
        self.front = 0  # settings on it, of several goals
        self.suspects: tuple[Suspect, ...] = ()  # measurements that look wrong
        self.verdict: Verdict | None = None
        self.waiting = ""  # for whom, while all that is left to do is with other workers

    def __enter__(self) -> Self:
        if self.screen is not None:
            self.screen.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.running = 0
        self.ended = True
        self.waiting = ""
        if self.screen is not None:
            self.screen.stop(self._state(self.screen.width), sentences_about(self.suspects))

    def show(self, running: int, verdict: Verdict | None) -> None:
        """Shows that a trial was started."""
        self.running, self.verdict = running, verdict
        if self.screen is not None:
            self.screen.update(self._state(self.screen.width))

    def wait(self, text: str) -> None:
        """Shows for whom is waited; where the line is not alive, the first time only."""
        first, self.waiting = not self.waiting, text
        if self.screen is None:
            return
        if first and not self.screen.is_alive:
            self.screen.line(Text(text))
        self.screen.update(self._state(self.screen.width))

    def show_trial(self, trial: Trial, running: int) -> None:
        """Shows a trial that has ended."""
        self.count += 1
        self.running = running
        if self.screen is None:
            return
        if trial.measurements:
            self._update_best()
        self.screen.line(_line(trial))
        self.screen.update(self._state(self.screen.width))

    def _update_best(self) -> None:
        outcomes = self.study.outcomes
        with suppress(NoMeasurementError):  # not every outcome has been told yet
            if outcomes is not None and len(outcomes.goals) > 1:
                self.front = len(self.study.front)
            else:
                self.best = self.study.best
            self.suspects = self.study.suspects

    def _state(self, width: int) -> Text:
        done = len(self.study.ledger.snapshot.in_state(DONE, FAILED, WITHDRAWN))
        total = f"/{self.n_trials}" if self.n_trials else ""
        parts = [f"{done}{total} trials"]
        if self.n_trials and self.count and not self.ended:
            seconds = (time.monotonic() - self.began) / self.count * max(self.n_trials - done, 0)
            parts += self.waiting.split("; ") if self.waiting else [f"{_clock(seconds)} left"]
        elif self.waiting:
            parts += self.waiting.split("; ")
        if self.best is not None:
            best = with_uncertainty(self.best.mean, self.best.std)
            parts.append(f"best {best} (trial {self.best.number})")
            if self.best.p_feasible is not None:
                parts.append(f"its limits hold with {percent(self.best.p_feasible)}")
        if self.front:
            parts.append(f"{plural(self.front, 'setting')} on the front")
        if self.verdict is not None and self.verdict.remaining:
            gain, price = self.verdict.remaining[0], self.verdict.cost
            parts.append(f"still to gain {rounded(gain, 3)}, a trial costs {rounded(price)}")
        if self.running > 1:
            parts.append(f"{self.running} running")
        text = _pack(parts, width)
        return Text(text, style="bold", no_wrap=True, overflow="ellipsis")


def _pack(parts: list[str], width: int) -> str:
    """The parts in as few lines as a terminal needs; a part is not broken over two lines."""
    lines = parts[:1]
    for part in parts[1:]:
        joined = f"{lines[-1]} · {part}"
        if len(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(part)
    return "\n".join(lines)


def _line(trial: Trial) -> Text:
    return Text.assemble(
        (f"{trial.number:>5}  ", "dim"),
        (outcome_line(trial, is_live=True), "" if trial.measurements else "red"),
        (f"  {params_line(trial.params, 40)}", "dim"),
    )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"
