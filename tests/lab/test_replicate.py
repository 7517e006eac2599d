"""One replication: the same for the same cell, common initial designs, failures recorded, noiseless
limits.
"""

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ceibo import acquisition as acq
from ceibo.decide.model import fit_model
from ceibo.decide.settings import Settings
from ceibo.errors import InputError
from ceibo_lab.kinds import KINDS
from ceibo_lab.kinds.benchmark import begin, optimise_run
from ceibo_lab.methods import METHODS, PAPER_SEVEN, SUITE, paper_settings
from ceibo_lab.methods.ceibo import Ceibo
from ceibo_lab.methods.inputs import INPUT_METHODS
from ceibo_lab.methods.outcomes import OUTCOME_METHODS
from ceibo_lab.plans import EXPERIMENTS, experiment
from ceibo_lab.plans.benchmark import FOUR
from ceibo_lab.problem import unit_space
from ceibo_lab.problems import problem
from ceibo_lab.record import Cell
from ceibo_lab.records import timeless
from ceibo_lab.replicate import replicate
from ceibo_lab.run import Watch

SHORT = Cell("optimise", "levy", "shifted", "heteroscedastic", 0.1, "corrected-ei", 3, 6)


def made(cell: Cell) -> dict[str, Any]:
    record = replicate(cell)
    assert record is not None
    assert record["status"] == "done", record.get("traceback")
    return record


def test_the_same_cell_gives_the_same_record() -> None:
    assert timeless(made(SHORT)) == timeless(made(SHORT))


def test_methods_share_the_initial_design_and_its_noise() -> None:
    runs = [optimise_run(Cell(*SHORT.to_json().values()), Watch())[0]]
    for name in ("ei", "random", "ei/short", "ucb/map"):
        runs.append(optimise_run(Cell(**(SHORT.to_json() | {"method": name})), Watch())[0])
    first = runs[0].evidence
    for run in runs[1:]:
        np.testing.assert_array_equal(run.evidence.X[:12], first.X[:12])
        np.testing.assert_array_equal(run.evidence.y[:12], first.y[:12])
        np.testing.assert_array_equal(run.evidence.noise, first.noise)
    assert len(first) == 12 + 6


def test_what_is_recorded_is_what_happened() -> None:
    run, noisy, _, trace = optimise_run(SHORT, Watch())
    record = made(SHORT)
    target = problem("levy", "shifted", 3)
    points = target.from_unit(run.evidence.X)
    np.testing.assert_allclose(
        record["trace"]["regret"], target(points) - target.minimum, rtol=6e-5
    )
    np.testing.assert_allclose(noisy.f, target(points))
    np.testing.assert_allclose(record["trace"]["distance"], target.distance(points), rtol=6e-4)
    assert record["trace"]["recommended"]["t"] == [0, 6]
    assert len(trace["best"]) == len(trace["value"]) == 7
    assert record["settings"]["fit"] == "ml"
    assert record["settings"]["restarts"] == 16
    assert {"ceibo", "numpy", "scipy"} <= record["versions"].keys()


def test_the_incumbent_is_the_best_posterior_mean() -> None:
    run, _, _, trace = optimise_run(SHORT, Watch())
    model = fit_model(run.evidence, unit_space(4), Settings(fit="ml"), None)
    means, _ = model.gp.posterior(run.evidence.X)
    assert means[trace["best"][-1]] == pytest.approx(means.min(), abs=0.05 * np.ptp(means))


@pytest.mark.parametrize(
    "name", ["botorch-qlognei", "optuna-gp", "random", "q-noisy-ei", "knowledge-gradient/map"]
)
def test_every_kind_of_method_runs(name: str) -> None:
    record = made(Cell("optimise", "hartmann", "plain", "homoscedastic-untold", 0.1, name, 0, 2))
    assert len(record["trace"]["regret"]) == 9 + 2


def test_a_failure_is_recorded_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_cell: Cell, _watch: Watch) -> dict[str, Any]:
        raise ZeroDivisionError("the reactor leaked")

    monkeypatch.setitem(KINDS, "optimise", broken)
    record = replicate(SHORT)
    assert record is not None
    assert record["status"] == "failed"
    assert record["error"] == "ZeroDivisionError: the reactor leaked"
    assert "broken" in record["traceback"]
    assert record["cell"]["seed"] == 3


def test_a_missing_package_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ceibo_lab.methods.optuna", None)
    with pytest.raises(InputError, match="optuna-gp cannot run here"):
        replicate(Cell("optimise", "hartmann", "plain", "homoscedastic", 0.1, "optuna-gp", 0, 1))


@pytest.mark.parametrize(
    ("module", "cell", "said"),
    [
        (
            "ceibo_lab.methods.peers.skopt",
            Cell("suite", "branin", "plain", "homoscedastic", 0.1, "skopt", 0, 1),
            "skopt cannot run here: .*; `make peers` installs it in .venv-peers/skopt",
        ),
        (
            "ceibo_lab.methods.inputs.bofire",
            Cell("rules", "reflux", "plain", "homoscedastic", 0.02, "bofire", 0, 11),
            r"the method bofire needs .*: pip install 'bofire\[optimization\]'",
        ),
    ],
)
def test_a_missing_tool_is_no_result(
    module: str, cell: Cell, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=said):
        replicate(cell)


def test_a_failure_of_an_outside_method_names_its_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_cell: Cell, _watch: Watch) -> dict[str, Any]:
        raise ZeroDivisionError("the reactor leaked")

    monkeypatch.setitem(KINDS, "optimise", broken)
    record = replicate(replace(SHORT, method="optuna-gp"))
    assert record is not None
    assert record["status"] == "failed"
    assert set(record["settings"]) == {"optuna", "torch"}


def test_out_of_time_leaves_no_record() -> None:
    assert replicate(SHORT, deadline=0.0) is None


def test_without_noise_ei_and_corrected_ei_agree_at_every_step() -> None:
    """Given the same data: values to 1e-6 where the variance is well above the jitter, and each
    one's maximiser reaches the other's maximum.

    Until 1e-5 of the range is left to gain: then the peak beside x⁺ is 1e-3 length scales wide, and
    corrected EI, which is zero at x⁺, has no start on it.
    """
    cell = Cell("optimise", "hartmann", "plain", "noiseless", 0.0, "ei", 1, 18)
    run, _ = begin(cell)
    method = Ceibo(run.space, cell.seed, paper_settings("ei"))
    X = np.random.default_rng(0).random((400, 3))
    for _ in range(cell.steps):
        proposal = method.propose(run.evidence, len(run.points))
        assert proposal.model is not None
        gp = proposal.model.gp
        plain, corrected = (acq.build(name, gp) for name in ("ei", "corrected-ei"))
        jitter = float(gp.state.factor.jitter.max()) * gp.unit**2
        clear = gp.posterior(X)[1] > max(1e8 * jitter, 1e-6 * gp.kernel.variance)
        assert clear.sum() > 100
        np.testing.assert_allclose(corrected.value(X[clear]), plain.value(X[clear]), rtol=1e-6)
        tops = [acq.maximize(function, seed=0) for function in (plain, corrected)]
        for function, other in ((plain, tops[1]), (corrected, tops[0])):
            own = tops[0] if function is plain else tops[1]
            assert function.value(other.x[None, :])[0] == pytest.approx(own.value, rel=1e-6)
        run.measure(proposal.x)


def test_draws_stop_where_they_say() -> None:
    record = made(
        Cell("draws", "gp-draw-12", "plain", "homoscedastic", 0.16, "corrected-ei", 0, 40)
    )
    trace = record["trace"]
    assert trace["stopped"] == (trace["value"][-1] < trace["kappa"])
    assert all(value >= trace["kappa"] for value in trace["value"][:-1])
    assert trace["t"] == len(trace["value"]) - 1
    assert max(trace["at_stop"], trace["best"]) <= trace["maximum"]
    capped = made(Cell("draws", "gp-draw-40", "plain", "homoscedastic", 0.16, "ei", 0, 1))
    assert (capped["trace"]["t"], capped["trace"]["stopped"]) == (1, False)


def test_scenario_cost_and_theory_run() -> None:
    picture = made(Cell("scenario", "scenario", "plain", "homoscedastic", 0.3, "ei", 0, 4))["trace"]
    assert len(picture["x"]) == 8
    assert set(picture["next"]) == {"ei", "corrected-ei"}
    # Corrected EI is zero at the incumbent.
    near = int(np.argmin(np.abs(np.array(picture["grid"]) - picture["incumbent"])))
    assert picture["acquisition"]["corrected-ei"][near] < picture["acquisition"]["ei"][near]
    times = made(Cell("cost", "griewank", "plain", "heteroscedastic", 0.1, "ei", 0, 0))["run"]
    assert all(second > 0 for second in [*times["fit"], *times["maximise"]])
    theory = made(
        Cell("theory", "hartmann", "plain", "heteroscedastic", 0.1, "corrected-ei", 0, 11)
    )["trace"]
    assert theory["T"] == [10, 20]
    assert np.all(np.array(theory["regret"]) < theory["bound"])
    assert np.all(np.array(theory["realised_gain"]) <= theory["maximal_gain"])


def test_experiments_hold_what_the_paper_has() -> None:
    cells = experiment("benchmark-10").cells(only=("heteroscedastic-plain",))
    assert len(cells) == len(PAPER_SEVEN) * len(FOUR) * 15
    assert {cell.steps for cell in cells} == {150}
    assert len({cell.key for cell in cells}) == len(cells)
    for each in EXPERIMENTS.values():
        tables = {
            "suite": set(SUITE),
            "many": set(SUITE),
            "answers": set(SUITE),
            "outcomes": set(OUTCOME_METHODS),
            "inputs": set(INPUT_METHODS),
        }
        known = tables.get(each.id.partition("-")[0], set(METHODS))
        assert {cell.method for cell in each.cells()} <= known
        assert 0 < len(each.cells(quick=True)) <= len(each.cells())
        assert [cell.seed for cell in each.cells()] == sorted(cell.seed for cell in each.cells())
