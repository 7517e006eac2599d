"""An optimisation under way: measurements at points of the unit cube, one after the other.

Every replication goes through `Run.states`, whatever its problem, its noise and its method; what is
written down at each state is up to its kind (see kinds/).
"""

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple, final

import numpy as np

from ceibo.acquisition import find_incumbent
from ceibo.decide import Belief, Evidence, Measurement, Settings, Space, Told
from ceibo.decide import evidence_of as build_evidence
from ceibo.decide.model import Model
from ceibo.gp.inputs import Array
from ceibo_lab.method import Method, Proposal
from ceibo_lab.noise import Measuring

DIGITS: Final = 5  # significant digits kept of what is measured; the digest covers all of them


class OutOfTimeError(Exception):
    """The time given to the sweep is over; the next sweep runs the cell again."""


@final
@dataclass(frozen=True)
class Watch:
    """Ends a replication between two steps, at a deadline in seconds since the epoch."""

    deadline: float = float("inf")

    def check(self) -> None:
        if time.time() >= self.deadline:
            raise OutOfTimeError


class State(NamedTuple):
    """Before step t: what is known, and what the method proposes (None: it was not asked)."""

    t: int
    evidence: Evidence
    proposal: Proposal | None

    @property
    def model(self) -> Model | None:
        """The model that the proposal was chosen with, if there is one."""
        return None if self.proposal is None else self.proposal.model

    @property
    def value(self) -> float | None:
        """The acquisition's value at the proposal, if there is one."""
        return None if self.proposal is None else self.proposal.value


@final
@dataclass(eq=False)
class Run:
    """Points measured so far, what measures them, and the seconds spent on what."""

    space: Space
    measuring: Measuring
    points: list[Array] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    suggesting: list[float] = field(default_factory=list)  # seconds of each suggestion

    @property
    def evidence(self) -> Evidence:
        """What a method may know."""
        X = np.array(self.points).reshape(len(self.points), len(self.space))
        return evidence_of(X, self.measuring.values, self.measuring.told)

    def measure(self, u: Array) -> None:
        """One more measurement, at u (d,) of the unit cube."""
        with self.timed("evaluate"):
            self.measuring.measure(u)
        self.points.append(u)

    def states(
        self, method: Method, steps: int, watch: Watch, *, ask_last: bool = False
    ) -> Iterator[State]:
        """Measures where the method proposes, `steps` times; yields each state before it does so.

        The last state, after all measurements, has no proposal. With `ask_last` a method that says
        what its proposals are worth is asked then too.
        """
        last: Proposal | None = None
        for t in range(steps):
            watch.check()
            evidence = self.evidence
            last = self._ask(method, evidence)
            yield State(t, evidence, last)
            self.measure(last.x)
        watch.check()
        evidence = self.evidence
        asked = ask_last and (last is None or last.value is not None)
        yield State(steps, evidence, self._ask(method, evidence) if asked else None)

    def _ask(self, method: Method, evidence: Evidence) -> Proposal:
        before = self.seconds.get("suggest", 0.0)
        with self.timed("suggest"):
            proposal = method.propose(evidence, len(evidence))
        self.suggesting.append(self.seconds["suggest"] - before)
        return proposal

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Adds the seconds inside, and the processor's, which other work does not stretch."""
        clocks = {what: time.perf_counter, f"{what}_cpu": time.process_time}
        since = {name: clock() for name, clock in clocks.items()}
        yield
        for name, clock in clocks.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + clock() - since[name]


def evidence_of(X: Array, y: Array, told: Array) -> Evidence:
    """Measurements at points (n, d), one each, with their noise as told (NaN: not told)."""
    rows = enumerate(zip(X, y.tolist(), told.tolist(), strict=True))
    measured = [
        Told(number, x, Measurement(value, None if np.isnan(noise) else noise))
        for number, (x, value, noise) in rows
    ]
    return build_evidence(measured, X.shape[1])


class Place(NamedTuple):
    """A point (d,) of the unit cube, with the posterior mean and standard deviation there."""

    u: Array
    mean: float | None = None
    std: float | None = None


def recommended(model: Model, evidence: Evidence, space: Space, seed: int) -> Place:
    """The minimiser of the posterior mean over the space."""
    found = Belief(evidence, space, Settings(), seed, given=model).recommended
    return Place(space.to_unit(found.params), found.mean, found.std)


def incumbent(model: Model) -> Place:
    """The measured point with the best posterior mean."""
    found = find_incumbent(model.gp)
    return Place(found.x, model.natural(found.mean), model.natural(found.std))


def row_of(evidence: Evidence, x: Array) -> int:
    """The first row measured at x (d,)."""
    return int(np.argmin(np.sum((evidence.X - x) ** 2, axis=1)))


def lowest(evidence: Evidence) -> Place:
    """The measured point with the lowest noisy value."""
    return Place(evidence.X[int(np.argmin(evidence.y))])


def digest(evidence: Evidence) -> str:
    """Of every bit of what was measured where."""
    parts = np.column_stack([evidence.X, evidence.y, evidence.noise])
    return hashlib.sha256(np.ascontiguousarray(parts, dtype="<f8").tobytes()).hexdigest()[:16]


def shorten(value: float, digits: int = DIGITS) -> float | None:
    """The value to some significant digits; None if it is not finite."""
    return float(f"{value:.{digits}g}") if np.isfinite(value) else None


def shorten_all(values: Array, digits: int = DIGITS) -> list[float | None]:
    return [shorten(float(value), digits) for value in values]
