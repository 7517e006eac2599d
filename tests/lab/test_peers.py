"""Outside tools: their table and environments, and how one takes part in a run."""

import ast
import importlib.metadata
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ceibo.decide import Categorical, Float, Int, Space
from ceibo.errors import InputError
from ceibo_lab.kinds.require import require
from ceibo_lab.method import Expecting
from ceibo_lab.methods import SUITE
from ceibo_lab.methods.peers import PEERS
from ceibo_lab.methods.peers.tool import FEW, Peer, is_coordinate, read
from ceibo_lab.plans.suite import suite_problem
from ceibo_lab.problems.mixed import PROCESS, RECIPE
from ceibo_lab.record import Cell
from ceibo_lab.replicate import replicate
from ceibo_lab.run import evidence_of
from tests.extras import ROOT

FOLDER = ROOT / "lab/peers"
CELL = Cell("suite", "branin", "plain", "homoscedastic", 0.1, "optuna-tpe", 0, 12)


def pins(name: str) -> dict[str, str]:
    """What the environment of a tool holds; every line of its file is a comment or a pin."""
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    found = [re.fullmatch(r"([\w.-]+)==([\w.]+)", each) for each in lines if each[:1] != "#"]
    assert all(found), name
    return {each[1].lower(): each[2] for each in found if each is not None}


@pytest.mark.parametrize("name", PEERS)
def test_a_tool_has_its_class_and_its_environment(name: str) -> None:
    spec = find_spec(f"ceibo_lab.methods.peers.{name.replace('-', '_')}")
    assert spec is not None
    assert spec.origin is not None
    code = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    (kind,) = [node for node in code.body if isinstance(node, ast.ClassDef) and node.name[0] != "_"]
    members = {node.name for node in kind.body if isinstance(node, ast.FunctionDef)}
    assert {"ask", "tell", "best"} <= members
    pinned = pins(name)
    assert {package.lower() for package in PEERS[name].packages} <= pinned.keys()
    assert {
        "numpy",
        "scipy",
        "sqlalchemy",
        "typer",
        "rich",
        "joblib",
        "matplotlib",
    } <= pinned.keys()
    assert pinned.get("torch", "2.13.0") == "2.13.0"
    assert not {"ceibo", "ceibo-lab"} & pinned.keys()
    assert f"`{name}`" in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_every_environment_is_of_a_tool() -> None:
    assert {each.stem for each in FOLDER.glob("*.txt")} == {*PEERS}
    assert {*PEERS} <= {*SUITE}


@dataclass
class Fake:
    """A tool that asks for what it is given and writes down what it is told."""

    settings: list[dict[str, Any]]
    answer: dict[str, Any] | None = None
    told: list[tuple[float, float | None]] = field(default_factory=list)

    def ask(self) -> Mapping[str, Any]:
        return self.settings[len(self.told)]

    def tell(self, value: float, noise: float | None) -> None:
        self.told.append((value, noise))

    def best(self) -> Mapping[str, Any] | None:
        return self.answer


def test_a_tool_hears_every_measurement_once_and_is_started_when_asked() -> None:
    space = Space({"dose": Float(1, 100, log=True), "passes": Int(1, 20)})
    fake = Fake(
        [
            {"dose": np.float64(10.0), "passes": 3.2},
            {"dose": 100.0000001, "passes": 20},
            {"dose": 1.0, "passes": 1},
        ]
    )
    begun: list[tuple[Space, int, int]] = []

    def start(*given: Any) -> Fake:
        begun.append(given)
        return fake

    peer, other = Peer(space, 7, start), Peer(space, 7, start)
    assert isinstance(peer, Expecting)
    peer.expect(30)
    assert begun == []
    nothing = evidence_of(np.empty((0, 2)), np.empty(0), np.empty(0))
    first = peer.propose(nothing, 0).x
    np.testing.assert_allclose(first, space.to_unit({"dose": 10.0, "passes": 3}))
    one = evidence_of(first[None, :], np.array([4.0]), np.array([0.5]))
    second = peer.propose(one, 1).x
    np.testing.assert_allclose(second, space.to_unit({"dose": 100.0, "passes": 20}))
    X = np.array([first, second])
    two = evidence_of(X, np.array([4.0, 3.0]), np.array([0.5, np.nan]))
    assert peer.recommend(two) == pytest.approx(second)  # the lowest value told
    fake.answer = {"dose": 1.0, "passes": 1}
    assert peer.recommend(two) == pytest.approx(space.to_unit(fake.answer))
    assert fake.told == [(4.0, 0.5), (3.0, None)]
    assert peer.model(two) is None
    other.propose(nothing, 0)
    (space_given, seed, trials), again = begun
    assert (space_given, trials) == (space, 30)
    assert again == (space, seed, 0)


def test_tools_without_logarithms_are_given_coordinates() -> None:
    few = Int(1, FEW)
    shown = {name: is_coordinate(each) for name, each in PROCESS.dimensions.items()}
    assert shown == {
        **dict.fromkeys(("temperature", "flow", "rate", "width"), True),
        **dict.fromkeys(("layers", "solvent", "catalyst"), False),
    }
    assert not is_coordinate(few)
    assert is_coordinate(Int(1, FEW + 1))
    assert not is_coordinate(Int(1, 1000), float("inf"))
    for u in np.random.default_rng(0).random((20, len(PROCESS))):
        params = PROCESS.from_unit(u)
        told = {
            name: each.to_unit(params[name]) if shown[name] else params[name]
            for name, each in PROCESS.dimensions.items()
        }
        assert PROCESS.to_unit(read(PROCESS, told)) == pytest.approx(PROCESS.to_unit(params))
    assert isinstance(RECIPE.dimensions["method"], Categorical)


def test_a_tool_without_categories_is_refused_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ceibo_lab.kinds.require._is_installed", lambda _name: True)
    require([Cell("suite", "branin", "plain", "homoscedastic", 0.1, "pybads", 0, 12)])
    with pytest.raises(InputError, match="pybads has no categories, and mixed-recipe has some"):
        require([Cell("suite", "mixed-recipe", "plain", "homoscedastic", 0.1, "pybads", 0, 12)])
    for name, entry in PEERS.items():
        assert entry.only_numbers == (name == "pybads")
    assert not suite_problem("hartmann-6", 0).space.categorical


def check(record: dict[str, Any], name: str) -> None:
    assert record["status"] == "done", record
    assert record["trace"]["n"] == [10, 12]
    assert min(record["trace"]["own"]) >= 0.0
    assert record["settings"].keys() == {*PEERS[name].packages}


@pytest.mark.needs("optuna")
@pytest.mark.parametrize("problem", ["branin", "mixed-recipe"])
def test_optunas_tpe_is_repeatable(problem: str) -> None:
    cell = Cell("suite", problem, "plain", "heteroscedastic", 0.1, "optuna-tpe", 0, 12)
    first, second = replicate(cell), replicate(cell)
    assert first is not None
    assert second is not None
    check(first, "optuna-tpe")
    assert first["digest"] == second["digest"]
    assert first["settings"] == {"optuna": importlib.metadata.version("optuna")}


@pytest.mark.needs("ax", "botorch", "torch")
@pytest.mark.parametrize("noise", ["homoscedastic", "homoscedastic-untold"])
def test_ax_runs(noise: str) -> None:
    found = replicate(Cell("suite", "branin", "plain", noise, 0.1, "ax", 0, 12))
    assert found is not None
    check(found, "ax")
