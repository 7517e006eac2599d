"""Jumps of the database's clock while workers ask, work, die and tell.

The clock is a made-up one, so that an hour takes no time. Workers renew their leases as the
heartbeat does, or are dead. Asserted after every step: a trial of a dead worker is handed out again
at most one lease after its last sign of life or the last jump (and a step of the simulation later);
one of a living worker is given to another only after a jump forward; and at the end every result
told is there, late ones too.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, final

import sqlalchemy as sa

from ceibo.decide.measurement import Measurement
from ceibo.study.store import Lease, NewTrial, Store, StoredTrial, hand_out_key, transaction
from ceibo.study.store.database import Database

LEASE: Final = 60.0
STEP: Final = 5.0  # seconds of the simulation at most between two asks
BOUND: Final = LEASE + STEP + 1.0
JUMPS: Final = (-86_400.0, -3600.0, -120.0, -0.5, 0.5, 120.0, 3600.0, 86_400.0)


@final
@dataclass
class Clock:
    """True time since the start, and the time that the database shows."""

    true: float = 0.0
    shown: float = 1.7e9

    def advance(self, seconds: float) -> None:
        self.true += seconds
        self.shown += seconds


@contextmanager
def clock_of_databases(clock: Clock) -> Iterator[None]:
    """Lets every SQLite database opened meanwhile show this clock."""
    made_up: sa.ColumnElement[float] = sa.literal_column("ceibo_clock()", sa.Double())

    def connect(raw: Any, _record: object) -> None:
        raw.create_function("ceibo_clock", 0, lambda: clock.shown)

    sa.event.listen(sa.Engine, "connect", connect)
    now, locks = Database.now, dict(vars(transaction)["_LOCKS"])
    vars(transaction)["_LOCKS"].clear()
    setattr(Database, "now", property(lambda _: made_up))  # noqa: B010 - a property of the class
    try:
        yield
    finally:
        setattr(Database, "now", now)  # noqa: B010 - as above
        vars(transaction)["_LOCKS"].clear()
        vars(transaction)["_LOCKS"].update(locks)
        sa.event.remove(sa.Engine, "connect", connect)


@final
@dataclass
class Worker:
    """A worker: the trial it holds, when it last renewed its lease, when it will tell."""

    name: str
    trial: StoredTrial | None = None
    renewed: float = 0.0
    ends: float = 0.0
    dead: bool = False
    overtaken: bool = False  # its trial was handed out to another, and will have two results


@final
@dataclass
class Figures:
    """What the simulated runs came to."""

    runs: int = 0
    told: int = 0
    jumps: int = 0
    deaths: int = 0
    taken_twice: int = 0  # trials of living workers handed out again, after a jump forward
    longest: float = 0.0  # seconds for which a dead worker's trial stayed
    wrong: list[str] = field(default_factory=list)


@final
class Simulation:
    """One run of several workers under one clock."""

    def __init__(self, seed: str, figures: Figures) -> None:
        self.random, self.figures, self.seed = random.Random(seed), figures, seed
        self.clock, self.jumped, self.forward = Clock(), 0.0, -1.0
        self.workers: dict[str, Worker] = {}
        self.told: list[tuple[int, str, float]] = []

    def run(self, steps: int) -> None:
        """Simulates, and then lets living workers finish what is left."""
        with clock_of_databases(self.clock):
            self.store = Store("sqlite://")
            self.study = self.store.create_study("clocks", {}, {}).id
            for _ in range(steps):
                self._step()
            self._finish()
            self._check_told()
            self.store.close()

    def _step(self) -> None:
        self.clock.advance(self.random.uniform(0.0, STEP))
        if self.random.random() < 0.08:
            jump = self.random.choice(JUMPS) * self.random.uniform(0.5, 1.0)
            self.clock.shown += jump
            self.jumped = self.clock.true
            self.forward = self.clock.true if jump > 0 else self.forward
            self.figures.jumps += 1
        for worker in list(self.workers.values()):
            self._work(worker)
        living = sum(not worker.dead for worker in self.workers.values())
        while self._ask(new=living < 4):
            living += 1
        self._check_dead()

    def _work(self, worker: Worker) -> None:
        if worker.dead or worker.trial is None:
            return
        if self.random.random() < 0.02:
            worker.dead = True
            self.figures.deaths += 1
        elif self.clock.true >= worker.ends:
            self._tell(worker)
        elif self.clock.true - worker.renewed >= LEASE / 3:
            self.store.heartbeat(self.study, Lease(worker.name, LEASE))
            worker.renewed = self.clock.true

    def _tell(self, worker: Worker) -> None:
        assert worker.trial is not None
        number, key = worker.trial.number, hand_out_key(worker.trial.attempt)
        value = self.random.random()
        self.store.tell(self.study, number, Measurement(value), key)
        self.told.append((number, key, value))
        self.figures.told += 1
        del self.workers[worker.name]

    def _ask(self, new: bool) -> bool:
        """Lets a further worker ask; false if there is nothing to claim, and nothing `new`."""
        name = f"worker-{self.random.getrandbits(64):x}"
        lease = Lease(name, LEASE)
        trial = self.store.claim(self.study, lease)
        if trial is None and not new:
            return False
        if trial is None:
            (trial,) = self.store.create_trials(self.study, [NewTrial({}, lease=lease)])
        for other in [each for each in self.workers.values() if each.trial is not None]:
            if other.trial is not None and other.trial.number == trial.number:
                self._check_taken(other)
        ends = self.clock.true + self.random.expovariate(1 / 100.0)
        self.workers[name] = Worker(name, trial, self.clock.true, ends)
        return True

    def _check_taken(self, other: Worker) -> None:
        """Judges that a trial was handed out although this worker has it."""
        if other.dead:
            del self.workers[other.name]
        if other.dead or other.overtaken:
            return
        other.overtaken = True
        self.figures.taken_twice += 1
        if self.forward < other.renewed:
            self._wrong(f"the trial of a living worker was handed out: {other}")

    def _check_dead(self) -> None:
        """Nobody waits for a dead worker for longer than the bound."""
        held = {worker for worker, _ in self.store.leases(self.study).values()}
        for worker in self.workers.values():
            if worker.dead and worker.name in held:
                stays = self.clock.true - max(worker.renewed, self.jumped)
                self.figures.longest = max(self.figures.longest, stays)
                if stays > BOUND + STEP:
                    self._wrong(f"a dead worker's trial stayed for {stays:.0f} s")

    def _finish(self) -> None:
        for _ in range(1000):
            self.clock.advance(STEP)
            for worker in [each for each in self.workers.values() if not each.dead]:
                self._tell(worker)
            trial = self.store.claim(self.study, Lease("last", LEASE))
            if trial is not None:
                self.workers["last"] = Worker("last", trial, self.clock.true, 0.0)
            elif not self.store.leases(self.study):
                return
        self._wrong("some trials were never handed out again")

    def _check_told(self) -> None:
        trials = self.store.snapshot(self.study).trials
        stored = {(t.number, m.key): m.measurement.value for t in trials for m in t.measurements}
        for number, key, value in self.told:
            if stored.get((number, key)) != value:
                self._wrong(f"a result of trial {number} is lost")
        for trial in trials:
            if not trial.measurements and trial.state != "failed":
                self._wrong(f"trial {trial.number} was left {trial.state}")

    def _wrong(self, what: str) -> None:
        self.figures.wrong.append(f"{self.seed}: {what}")


def simulate(runs: int, steps: int, seed: int) -> Figures:
    """Simulates many runs."""
    figures = Figures()
    for index in range(runs):
        Simulation(f"{seed}/{index}", figures).run(steps)
        figures.runs += 1
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    begin = time.perf_counter()
    figures = simulate(options.runs, options.steps, options.seed)
    print(f"{'runs':>6}{'told':>8}{'jumps':>7}{'deaths':>8}{'taken twice':>13}", end="")
    print(f"{'longest wait':>14}{'wrong':>7}{'s':>7}")
    print(f"{figures.runs:>6}{figures.told:>8}{figures.jumps:>7}{figures.deaths:>8}", end="")
    print(f"{figures.taken_twice:>13}{figures.longest:>12.0f} s{len(figures.wrong):>7}", end="")
    print(f"{time.perf_counter() - begin:>7.0f}")
    print(*figures.wrong[:5], sep="\n", end="\n" if figures.wrong else "")
    return 1 if figures.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
