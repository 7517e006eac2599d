"""The suite: its problems and their optima, its noise, its halves, and runs of every kind of
method.
"""

import numpy as np
import pytest
import torch
from botorch.test_functions import synthetic

from ceibo.errors import InputError
from ceibo_lab.methods import CANDIDATES, REFERENCES, SUITE, TWENTY_INITIAL, TWO_EACH, method
from ceibo_lab.methods.variants import VARIANTS
from ceibo_lab.noise import NoisyProblem, Observed
from ceibo_lab.plans import experiment
from ceibo_lab.plans.suite import (
    DEVELOPMENT,
    LOCKED,
    MANY,
    NOISES,
    PAIRS,
    PROBLEMS,
    noises,
    suite_problem,
    trials,
)
from ceibo_lab.problem import Problem, stream
from ceibo_lab.problems import more
from ceibo_lab.problems.mixed import PROCESS, process_truth
from ceibo_lab.problems.tables import TABLES
from ceibo_lab.record import Cell
from ceibo_lab.replicate import replicate
from ceibo_lab.run import evidence_of

FUNCTIONS = {
    "branin": (more.branin, synthetic.Branin, 2),
    "hartmann-6": (more.hartmann_6, synthetic.Hartmann, 6),
    "ackley": (more.ackley, synthetic.Ackley, 5),
    "rosenbrock": (more.rosenbrock, synthetic.Rosenbrock, 4),
    "rosenbrock-20": (more.rosenbrock_20, synthetic.Rosenbrock, 20),
    "levy-20": (more.levy_20, synthetic.Levy, 20),
    "michalewicz": (more.michalewicz, synthetic.Michalewicz, 5),
}


def botorchs(name: str) -> synthetic.SyntheticTestFunction:
    """BoTorch keeps Hartmann's constants in the default precision of the moment it is made."""
    _, make, dimension = FUNCTIONS[name]
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        made: synthetic.SyntheticTestFunction
        made = make() if dimension == 2 else make(dim=dimension)
        return made
    finally:
        torch.set_default_dtype(before)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_and_minima_are_botorchs(name: str) -> None:
    ours, theirs = FUNCTIONS[name][0](), botorchs(name)
    X = ours.from_unit(np.random.default_rng(0).random((200, ours.dimension)))
    expected = theirs(torch.tensor(X)).numpy()
    np.testing.assert_allclose(ours(X), expected, rtol=1e-9, atol=1e-9 * ours.range)
    np.testing.assert_allclose(ours(ours.optimisers), ours.minimum, atol=1e-9 * ours.range)
    assert ours.minimum == pytest.approx(theirs.optimal_value, abs=1e-5)


def highest(problem: Problem) -> float:
    """Found by a crude search that includes the corners and the points where Ackley's waves are
    highest.
    """
    U = np.random.default_rng(1).random((40_000, problem.dimension))
    U[:2000] = np.round(U[:2000])
    values = problem.at_unit(U)
    best = U[np.argsort(-values)[:20]]
    line = np.linspace(0.0, 1.0, 401)
    for k in [*range(problem.dimension)] * 2:  # along each coordinate in turn
        along = np.repeat(best[:, None, :], len(line), axis=1)
        along[:, :, k] = line
        found = problem.at_unit(along.reshape(-1, problem.dimension)).reshape(20, -1)
        best[:, k] = line[np.argmax(found, axis=1)]
    for scale in 10.0 ** -np.arange(1.0, 7.0):
        near = best[:, None, :] + scale * np.random.default_rng(2).standard_normal(
            (20, 400, problem.dimension)
        )
        near = np.clip(np.concatenate([best[:, None, :], near], axis=1), 0.0, 1.0)
        found = problem.at_unit(near.reshape(-1, problem.dimension)).reshape(20, -1)
        best = near[np.arange(20), np.argmax(found, axis=1)]
    return float(problem.at_unit(best).max())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ranges(name: str) -> None:
    problem = FUNCTIONS[name][0]()
    found = highest(problem) - problem.minimum
    # Ackley has a wave at every whole number, of which a random start finds a good one, not the
    # best.
    assert found == pytest.approx(problem.range, rel=2e-3 if name == "ackley" else 1e-6)
    assert found <= problem.range * (1 + 1e-9)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("seed", [0, 3])
def test_no_point_is_below_the_minimum_and_the_range_is_not_exceeded_much(
    name: str, seed: int
) -> None:
    target = suite_problem(name, seed)
    U = stream(seed, "test").random((3000, len(target.space)))
    if target.space.discrete:
        U = np.array([target.space.to_unit(target.space.from_unit(u)) for u in U[:1000]])
    regrets = target.at_unit(U) - target.minimum
    assert regrets.min() >= 0
    moved = name not in TABLES and not name.startswith(("mixed", "michalewicz"))
    assert regrets.max() <= target.range * (
        4.0 if moved else 1.0 + 1e-9
    )  # a shift shows what was beyond the box; a draw has its own


def test_the_process_has_its_optimum_where_it_is_said_to_be() -> None:
    best = {"temperature": 62, "flow": 1.8, "rate": 1e-3, "layers": 5, "width": 64}
    assert process_truth({**best, "solvent": "water", "catalyst": "nickel"}) == pytest.approx(
        0.0, abs=1e-12
    )
    assert (
        suite_problem("mixed-process", 0).regret(
            PROCESS.to_unit({**best, "solvent": "acetone", "catalyst": "nickel"})
        )
        > 0.4
    )


def test_draws_are_of_unit_variance_and_differ_by_seed() -> None:
    U = stream(0, "points").random((50, 6))
    values = np.array([suite_problem("draw-6d", seed).at_unit(U) for seed in range(12)])
    assert np.mean(values**2) == pytest.approx(1.0, abs=0.5)
    assert not np.allclose(values[0], values[1])


def test_inert_coordinates_are_inert() -> None:
    target = suite_problem("branin-in-20", 1)
    U = np.tile(stream(1, "point").random(20), (2, 1))
    U[1, [k for k in range(20) if k not in (6, 13)]] = 0.123
    values = target.at_unit(U)
    assert values[0] == values[1]


@pytest.mark.parametrize("name", MANY)
def test_problems_of_many_parameters_have_the_minimum_that_they_say(name: str) -> None:
    target = suite_problem(name, 2)
    U = stream(2, "points").random((500, target.dimension))
    optimiser = (target.optimisers - target.low) / target.width
    np.testing.assert_allclose(target.at_unit(optimiser), target.minimum, atol=1e-9 * target.range)
    assert np.all(target.at_unit(U) >= target.minimum)
    active = range(target.dimension) if target.active is None else target.active
    moved = U.copy()
    moved[:, [k for k in range(target.dimension) if k not in active]] = 0.321
    np.testing.assert_allclose(target.at_unit(moved), target.at_unit(U), rtol=1e-12)
    assert len(active) == (6 if "in" in name.split("-") else target.dimension)


def test_halves_are_whole_and_apart() -> None:
    assert (
        sorted([*DEVELOPMENT, *LOCKED])
        == sorted(PROBLEMS)
        == sorted(name for pair in PAIRS for name in pair)
    )
    assert len(LOCKED) == 8
    assert len(set(NOISES)) == 12
    for name in PROBLEMS:
        first, second = noises(name)
        assert first != second
        assert trials(name) == (60 if len(suite_problem(name, 0).space) <= 3 else 80)


def measured(noisy: NoisyProblem, u: np.ndarray) -> Observed:
    noisy.measure(u)
    return noisy.seen[-1]


def test_noise_varies_over_the_space_and_is_not_told() -> None:
    noisy = NoisyProblem(suite_problem("hartmann", 0), "varying-untold", 0.1, 0)
    low, high = (measured(noisy, np.array([first, 0.5, 0.5])) for first in (0.0, 1.0))
    assert high.std == pytest.approx(7 * low.std)
    assert np.isnan(low.told)


@pytest.mark.parametrize("protocol", ["measured", "measured-untold"])
def test_real_noise_is_unbiased(protocol: str) -> None:
    target = suite_problem("svm", 0)
    noisy, u = NoisyProblem(target, protocol, 1.0, 0), np.array([0.4, 0.6])
    seen = [measured(noisy, u) for _ in range(2000)]
    values = np.array([each.y for each in seen])
    assert np.mean(values) - target.minimum == pytest.approx(
        target.regret(u), abs=4 * seen[0].std / np.sqrt(2000)
    )
    assert np.std(values) == pytest.approx(seen[0].std, rel=0.1)
    assert np.isnan(seen[0].told) == (protocol == "measured-untold")


@pytest.mark.parametrize("method", ["default", "corrected-ei", *VARIANTS, *REFERENCES])
@pytest.mark.parametrize("problem", ["branin", "mixed-recipe"])
def test_a_run_is_repeatable_and_judged_by_the_truth(method: str, problem: str) -> None:
    cell = Cell("suite", problem, "plain", "heteroscedastic", 0.1, method, 0, 13)
    first, second = replicate(cell), replicate(cell)
    assert first is not None
    assert second is not None
    assert first["status"] == "done", first
    assert first["digest"] == second["digest"]
    assert first["trace"] == second["trace"]
    trace = first["trace"]
    assert trace["n"] == [10, 13]
    assert min(trace["recommended"]) >= 0
    assert trace["oracle"][-1] <= min(trace["best"][-1], trace["raw"][-1])
    assert ("own" in trace) == (method in (*REFERENCES, "cautious", "marginalised"))


def test_what_was_tried_later_is_no_candidate() -> None:
    """The plan of the screening was fixed before its runs."""
    assert not {TWENTY_INITIAL, TWO_EACH} & {*CANDIDATES}
    assert {cell.method for cell in experiment("suite-development").cells()} == {*CANDIDATES}
    assert SUITE[TWENTY_INITIAL].settings["n_initial"] == 20


@pytest.mark.parametrize("name", [*CANDIDATES, TWENTY_INITIAL, TWO_EACH])
def test_every_candidate_starts(name: str) -> None:
    nothing = evidence_of(np.empty((0, len(PROCESS))), np.empty(0), np.empty(0))
    found = SUITE[name].start(PROCESS, 0).propose(nothing, 0)
    assert found.x.shape == (len(PROCESS),)


def test_unknown_names_are_told() -> None:
    with pytest.raises(InputError, match="problem must be one of hartmann"):
        suite_problem("banana", 0)
    with pytest.raises(InputError, match="method must be one of default"):
        method("clairvoyance", SUITE)
    with pytest.raises(InputError, match="protocol must be one of heteroscedastic"):
        NoisyProblem(suite_problem("branin", 0), "silent", 0.1, 0)
