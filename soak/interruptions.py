"""Random interruptions of runs in memory: `python -m soak.interruptions [--cases N] [--seed S]`.

Each case ends a run of `minimize` or `study.optimize` at a random moment: an exception of the
objective or of a callback, Ctrl-C, a process that dies, a timeout, StopRun. The objective notes
every value that it returns. Afterwards the study must be in the caller's hands, by the result or by
the exception, with every one of these values; and it must go on to its end.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ceibo
from ceibo.errors import ExecutorLostError

SPACE = {"x": ceibo.Float(0, 1), "y": ceibo.Float(0, 1)}
TRIALS = 12
WAYS = ("exception", "callback", "ctrl-c", "exit", "pool", "lost", "timeout", "alarm", "stop")


@dataclass(frozen=True)
class Bowl:
    """An objective that notes in a folder what it returns, and then may end the run."""

    folder: str
    way: str = ""
    at: int = -1

    def __call__(self, params: dict[str, Any]) -> float:
        trial = ceibo.current_trial()
        if trial.number >= self.at >= 0:
            self.interrupt()
        time.sleep(0.002)
        value: float = (params["x"] - 0.3) ** 2 + (params["y"] - 0.6) ** 2
        trial.attributes["value"] = value
        note = Path(self.folder, f"{trial.number}-{trial.attempt}")
        try:
            note.write_text(repr(value))
            return value
        except BaseException:  # interrupted before it could return
            note.unlink(missing_ok=True)
            raise

    def interrupt(self) -> None:
        if self.way == "exception":
            raise RuntimeError("CUDA error")
        if self.way == "stop":
            raise ceibo.StopRun("enough")
        if self.way == "exit":
            raise SystemExit(3)
        if self.way in ("pool", "lost"):
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class Case:
    """One run and how it is to end."""

    way: str
    rng: random.Random
    folder: str
    timers: list[threading.Timer] = field(default_factory=list)

    def callback(self, _study: ceibo.Study, trial: ceibo.Trial) -> int:
        if self.way == "callback" and trial.number >= self.at:
            raise ZeroDivisionError
        return 1  # what a progress bar returns

    def __post_init__(self) -> None:
        self.at = self.rng.randrange(TRIALS - 2)

    def executor(self) -> Executor | None:
        if self.way == "pool":
            return ProcessPoolExecutor(2)
        if self.way == "lost":
            return _Fragile(2)
        threads = self.way not in ("exit", "alarm") and self.rng.random() < 0.3
        return ThreadPoolExecutor(2) if threads else None

    def options(self) -> dict[str, Any]:
        given: dict[str, Any] = {"n_trials": TRIALS, "callbacks": [self.callback]}
        if self.way == "timeout":
            given["timeout"] = self.rng.uniform(0.0, 0.3)
        return given

    def arm(self) -> None:
        delay = self.rng.uniform(0.0, 0.4)
        if self.way == "ctrl-c":
            self.timers.append(threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT)))
            self.timers[0].start()
        if self.way == "alarm":  # a time limit of the caller's own
            signal.signal(signal.SIGALRM, _raise_timeout)
            signal.setitimer(signal.ITIMER_REAL, delay + 0.01)

    def disarm(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for timer in self.timers:
            timer.cancel()
            timer.join()

    def run(self) -> tuple[ceibo.Study | None, str]:
        """The study in the caller's hands, and how it came there."""
        objective = Bowl(self.folder, self.way, self.at)
        executor, study = self.executor(), None
        call: Callable[..., ceibo.Result] = ceibo.minimize
        arguments: tuple[Any, ...] = (objective, SPACE)
        if self.rng.random() < 0.3:
            study = ceibo.Study.create(SPACE)
            call, arguments = study.optimize, (objective,)
        try:
            self.arm()
            result = call(*arguments, executor=executor, **self.options())
            return result.study, result.stop.reason.name.lower()
        except BaseException as error:
            carried = getattr(error, "study", None)
            said = "error.study" in "".join(getattr(error, "__notes__", ()))
            return (carried if said else None), type(error).__name__
        finally:
            self.disarm()
            if executor is not None:
                executor.shutdown()


class _Fragile(ProcessPoolExecutor):
    """A pool that ceibo cannot make anew: it is not the standard library's own."""


def _raise_timeout(*_: object) -> None:
    raise TimeoutError("the caller's time is up")


def check(way: str, seed: int) -> tuple[str, list[str]]:
    """How one run ended, and what is missing of it."""
    with tempfile.TemporaryDirectory() as folder:
        case = Case(way, random.Random(f"{seed}-{way}"), folder)
        study, ended = case.run()
        if study is None:  # no fault if the interruption came before there was one
            return ended, ["the study is lost"] if os.listdir(folder) else []
        noted = {path.name: float(path.read_text()) for path in Path(folder).iterdir()}
        wrong = _missing(study, noted)
        with suppress(ExecutorLostError):
            study.optimize(Bowl(folder), n_trials=TRIALS)
        states = Counter(trial.state for trial in study.trials)
        if states["done"] + states["failed"] != TRIALS or states["done"] < TRIALS - 4:
            wrong.append(f"it did not go on to its end: {dict(states)}")
        return ended, wrong


def _missing(study: ceibo.Study, noted: dict[str, float]) -> list[str]:
    """The values that an objective returned and the study does not have."""
    wrong = []
    trials = study.trials
    for name, value in noted.items():
        number = int(name.split("-")[0])
        trial = trials[number]
        if value not in [each.value for each in trial.measurements]:
            wrong.append(f"trial {number} returned {value:.6g} and is {trial.state}")
        elif trial.attributes != {"value": value} or trial.duration is None:
            wrong.append(f"trial {number} has {trial.attributes} and took {trial.duration}")
    return wrong


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Random interruptions of runs in memory.")
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    ends: dict[str, Counter[str]] = {way: Counter() for way in WAYS}
    faults = []
    for case in range(given.cases):
        way = WAYS[case % len(WAYS)]
        ended, wrong = check(way, given.seed + case)
        ends[way][ended] += 1
        faults += [f"case {case} ({way}): {each}" for each in wrong]
    for way, counts in ends.items():
        shown = ", ".join(f"{name} {count}" for name, count in counts.most_common())
        print(f"{way:10} {sum(counts.values()):4}  {shown}")
    print(f"{given.cases} interruptions, {len(faults)} faults")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
