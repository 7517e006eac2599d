"""The progress of a run in a terminal: a line per finished trial, and one for the whole study."""

import sys
import time
from types import TracebackType
from typing import Self, final

from rich.console import Console
from rich.live import Live
from rich.text import Text

from ceibo.decide.estimate import Estimate
from ceibo.decide.stopping import Verdict
from ceibo.study.store import DONE, FAILED, WITHDRAWN
from ceibo.study.study import Study
from ceibo.study.trial import Trial
from ceibo.study.trial_line import outcome_line
from ceibo.text import params_line


@final
class Progress:
    """Shows a run as it goes, if wanted; None means only in a terminal."""

    def __init__(
        self, study: Study, n_trials: int | None, cost: float | None, wanted: bool | None
    ) -> None:
        self.study, self.n_trials, self.cost = study, n_trials, cost
        self.console = Console(stderr=True)
        shown = sys.stderr.isatty() if wanted is None else wanted
        self.live = (
            Live(console=self.console, refresh_per_second=4, transient=False) if shown else None
        )
        self.began, self.count = time.monotonic(), 0
        self.best: Estimate | None = None
        self.running, self.ended = 0, False
        self.verdict: Verdict | None = None

    def __enter__(self) -> Self:
        if self.live is not None:
            self.live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.running, self.ended = 0, True
        if self.live is not None:
            self.live.update(self._state())
            self.live.stop()
            if not (self.console.is_terminal or self.console.is_jupyter):
                self.console.line()  # a file's last line is a line too

    def show(self, running: int, verdict: Verdict | None) -> None:
        """A trial was started."""
        self.running, self.verdict = running, verdict
        if self.live is not None:
            self.live.update(self._state())

    def judged(self, verdict: Verdict | None) -> None:
        """What another measurement is verdict has been looked at."""
        self.verdict = verdict

    def finished(self, trial: Trial, running: int) -> None:
        """A trial has ended."""
        self.count += 1
        self.running = running
        if self.live is None:
            return
        self.console.print(_line(trial), highlight=False, overflow="ellipsis", no_wrap=True)
        if trial.measurements:
            self.best = self.study.best
        self.live.update(self._state())

    def _state(self) -> Text:
        parts = []
        done = len(self.study.ledger.snapshot.in_state(DONE, FAILED, WITHDRAWN))
        parts.append(f"{done}/{self.n_trials} trials" if self.n_trials else f"{done} trials")
        if self.n_trials and self.count and not self.ended:
            seconds = (time.monotonic() - self.began) / self.count * max(self.n_trials - done, 0)
            parts.append(f"{_clock(seconds)} left")
        if self.best is not None:
            parts.append(
                f"best {self.best.mean:.5g} ± {self.best.std:.2g} (trial {self.best.number})"
            )
        if self.verdict is not None and self.verdict.remaining:
            gain, price = self.verdict.remaining[0], self.verdict.cost
            parts.append(f"still to gain {gain:.3g}, a trial costs {price:.3g}")
        if self.running > 1:
            parts.append(f"{self.running} running")
        return Text(
            _pack(parts, self.console.width), style="bold", no_wrap=True, overflow="ellipsis"
        )


def _pack(parts: list[str], width: int) -> str:
    """The parts in as few lines as a terminal needs; a part is not broken over two lines."""
    lines = parts[:1]
    for part in parts[1:]:
        joined = f"{lines[-1]} · {part}"
        lines = [*lines[:-1], joined] if len(joined) <= width else [*lines, part]
    return "\n".join(lines)


def _line(trial: Trial) -> Text:
    return Text.assemble(
        (f"{trial.number:>5}  ", "dim"),
        (outcome_line(trial), "" if trial.measurements else "red"),
        (f"  {params_line(trial.params, 40)}", "dim"),
    )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"
