"""CONTRIBUTING's "Add an experiment", followed literally: a new problem, method and plan."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ceibo.decide.evidence import Evidence
from ceibo.decide.model import Model
from ceibo.decide.space import Space
from ceibo.gp.inputs import Array
from ceibo_lab.cli import app
from ceibo_lab.method import Entry, Method, Proposal
from ceibo_lab.methods import METHODS
from ceibo_lab.plans import EXPERIMENTS
from ceibo_lab.plans.plan import Block, Experiment
from ceibo_lab.problem import Problem, box
from ceibo_lab.problems import PROBLEMS
from ceibo_lab.records import read


def bowl() -> Problem:
    def values(X: Array) -> Array:
        return np.asarray(np.sum((X - 0.4) ** 2, axis=1))

    return Problem("bowl", *box(0, 1, 2), values, np.array([[0.4, 0.4]]), 0.0, 0.72)


@dataclass(frozen=True, eq=False)
class Nearby:
    """Measures near the best value so far."""

    rng: np.random.Generator

    def propose(self, evidence: Evidence, _number: int) -> Proposal:
        best = evidence.X[int(np.argmin(evidence.y))]
        return Proposal(np.clip(best + 0.1 * self.rng.standard_normal(len(best)), 0.0, 1.0))

    def model(self, _evidence: Evidence) -> Model | None:
        return None

    def recommend(self, _evidence: Evidence) -> Array | None:
        return None


def start(_space: Space, seed: int) -> Method:
    return Nearby(np.random.default_rng(seed))


PLAN = Experiment(
    "bowls",
    "A bowl, and a method that stays near its best value",
    (Block("bowl", ("bowl",), ("nearby", "ei"), seeds=2, steps=4),),
)


def test_a_problem_a_method_and_a_plan_are_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROBLEMS, "bowl", bowl)
    monkeypatch.setitem(METHODS, "nearby", Entry("near the best", start, {}))
    monkeypatch.setitem(EXPERIMENTS, PLAN.id, PLAN)
    call = CliRunner().invoke
    assert "A bowl, and a method" in call(app, ["list"]).output
    out = ["--backend", "serial", "--out", str(tmp_path)]
    one = call(app, ["run", "bowls", "--method", "nearby", "--seed", "0", *out])
    assert one.exit_code == 0, one.output
    assert len(read(tmp_path / "records").done) == 1
    rest = call(app, ["run", "bowls", *out])
    assert "3 cells finished" in rest.output
    assert "1 were there before" in rest.output
    quiet = call(app, ["run", "bowls", "--noise", "noiseless", "--seeds", "1", *out])
    assert quiet.exit_code == 0, quiet.output
    found = read(tmp_path / "records")
    assert len(found.done) == len(found.records) == 6
    assert {record["cell"]["method"] for record in found.done} == {"nearby", "ei"}
    for record in found.done:
        assert min(record["trace"]["regret"]) < 0.72
