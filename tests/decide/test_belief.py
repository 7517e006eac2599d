"""Belief: the answers in the user's units and direction, and the evidence they follow from."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import ceibo
from ceibo import Categorical, Float, InputError, Measurement, Study
from ceibo.decide import Belief, Direction, Settings, Space, Told, Unmeasured, evidence_of
from ceibo.decide.stopping import profit_of
from ceibo.errors import NoMeasurementError
from ceibo.gp import fit_gp

SPACE = Space({"x": Float(0, 10), "kind": Categorical(["a", "b"])})


def measurements(count: int = 14, scale: float = 1.0, noise: float | None = 0.05) -> list[Told]:
    """A bowl with its minimum of 3·scale at x = 4, higher by scale/2 for kind b."""
    rng = np.random.default_rng(3)
    told = []
    for number in range(count):
        x, kind = float(rng.uniform(0, 10)), "ab"[number % 2]
        height = 0.5 * (kind == "b") + 0.1 * (x - 4) ** 2 + 3.0
        value = scale * (height + 0.05 * rng.standard_normal())
        std = None if noise is None else noise * scale
        told.append(Told(number, SPACE.to_unit({"x": x, "kind": kind}), Measurement(value, std)))
    return told


def belief(told: list[Told], direction: Direction = Direction.MINIMIZE) -> Belief:
    return Belief(evidence_of(told, len(SPACE), direction), SPACE, Settings(), seed=0)


def negative(told: list[Told]) -> list[Told]:
    return [
        each._replace(measurement=Measurement(-each.measurement.value, each.measurement.noise))
        for each in told
    ]


# -- evidence --------------------------------------------------------------------------


def test_replicates_are_rows_and_noise_told_beside_them_is_that_of_their_mean() -> None:
    x = np.array([0.5, 0.25])
    told = [
        Told(0, x, Measurement.of([1.0, 2.0, 3.0])),
        Told(1, x, Measurement(2.5, 0.2, [1.0, 2.0, 3.0, 4.0])),
        Told(2, x, Measurement(7.0, 0.3)),
        Told(3, x, Measurement(8.0)),
    ]
    known = evidence_of(told, 2, Direction.MAXIMIZE)
    assert known.y.tolist() == [-1, -2, -3, -1, -2, -3, -4, -7, -8]
    assert known.group.tolist() == [0, 0, 0, 1, 1, 1, 1, 2, 3]
    np.testing.assert_array_equal(known.noise, [np.nan] * 3 + [0.4] * 4 + [0.3, np.nan])
    assert (known.measurements, known.trials, len(known)) == (4, 4, 9)
    assert known.pending.shape == known.failed.shape == known.withdrawn.shape == (0, 2)


def test_the_first_measurements_alone() -> None:
    told = [
        Told(0, np.array([0.1]), Measurement.of([1.0, 2.0])),
        *[Told(k, np.array([0.1 * k]), Measurement(float(k))) for k in (1, 2)],
    ]
    known = evidence_of(told, 1, unmeasured=Unmeasured(failed=[np.array([0.9])]), trials=9)
    first = known.first(2)
    assert first.y.tolist() == [1.0, 2.0, 1.0]
    assert (first.measurements, first.trials, len(first.failed)) == (2, 9, 1)
    assert first.key() != known.key() == known.first(3).key()
    assert len(known.first(0)) == 0


# -- answers ---------------------------------------------------------------------------


def test_maximising_minus_f_is_minimising_f() -> None:
    down, up = belief(measurements()), belief(negative(measurements()), Direction.MAXIMIZE)
    assert up.best.mean == -down.best.mean
    assert up.best.std == down.best.std
    assert (up.best.number, up.best.params) == (down.best.number, down.best.params)
    assert up.recommended.mean == -down.recommended.mean
    assert up.recommended.params == down.recommended.params
    assert up.best_observed.value == -down.best_observed.value
    assert up.best_observed.number == down.best_observed.number
    assert up.remaining == down.remaining
    assert profit_of(up, 0.1, 20).value == profit_of(down, 0.1, 20).value
    X = np.random.default_rng(0).random((5, 2))
    np.testing.assert_array_equal(up.at_points(X)[0], -down.at_points(X)[0])
    np.testing.assert_array_equal(up.improvement(X), down.improvement(X))


@pytest.mark.parametrize("exponent", [-900, -40, 40, 900])
def test_a_power_of_two_scales_every_answer_exactly(exponent: int) -> None:
    scale = 2.0**exponent
    plain, scaled = belief(measurements()), belief(measurements(scale=scale))
    assert scaled.best.mean == scale * plain.best.mean
    assert scaled.best.std == scale * plain.best.std
    assert scaled.recommended.params == plain.recommended.params
    assert scaled.remaining == scale * plain.remaining
    assert scaled.model.amplitude == scale * plain.model.amplitude


def test_a_belief_agrees_with_the_process_it_stands_on() -> None:
    """The posterior of a Gaussian process fitted to the same data, in units of the objective.

    The stated ± is averaged over hyperparameters, and so is a little larger than the process's.
    """
    told = measurements()
    X = np.array([each.x for each in told])
    y = np.array([each.measurement.value for each in told])
    gp = fit_gp(X, y, np.full(len(y), 0.05**2), categorical=SPACE.categorical).gp
    params = {"x": 3.3, "kind": "b"}
    mean, variance = gp.posterior(SPACE.to_unit(params)[None, :])
    found = belief(told).at(params)
    assert found.mean == pytest.approx(float(mean[0]), rel=1e-9)
    assert 1.0 < found.std / float(np.sqrt(variance[0])) < 1.3
    assert (found.params, found.number) == (params, None)
    with pytest.raises(InputError, match="unknown parameter"):
        belief(told).at({"x": 3.3, "kind": "b", "speed": 1})


def test_of_repeats_at_the_best_point_the_first_trial_is_named() -> None:
    told = measurements()
    best = told[belief(told).best.number or 0]
    again = [Told(50 - k, best.x, Measurement(best.measurement.value, 0.05)) for k in range(3)]
    assert belief([*again, *told]).best.number == best.number


def test_the_inferred_noise() -> None:
    assert belief(measurements()).noise is None
    inferred = belief(measurements(40, scale=8.0, noise=None)).noise
    assert inferred == pytest.approx(8 * 0.05, rel=0.5)


def test_without_a_measurement_there_is_no_answer() -> None:
    empty = belief([])
    for answer in ("best", "recommended", "best_observed", "remaining", "noise"):
        with pytest.raises(NoMeasurementError, match="no measurement yet"):
            getattr(empty, answer)
    assert not empty.verdict(1.0)


def test_the_best_and_the_recommended_setting_in_hindsight_and_then() -> None:
    """Earlier states: fitted anew, or with the hyperparameters of now."""
    now = belief(measurements())
    then = now.earlier(8)
    assert then.evidence.measurements == 8
    assert then.best.mean == belief(measurements()[:8]).best.mean
    hindsight = now.in_hindsight(8)
    assert hindsight.model.gp.kernel is now.model.gp.kernel
    assert hindsight.best.mean != then.best.mean
    whole = now.in_hindsight(14)
    assert whole.best.mean == pytest.approx(now.best.mean, rel=1e-9)


def test_remembered_states_give_the_same_verdict() -> None:
    now = belief(measurements())
    memory: dict[tuple[bytes, ...], float] = {}
    first = now.verdict(0.01, memory)
    assert len(memory) == 2
    memory_of_first = dict(memory)
    assert now.verdict(0.01, memory) == first == now.verdict(0.01)
    assert memory == memory_of_first
    assert first.remaining == (now.remaining, now.earlier(13).remaining)


def test_a_belief_does_not_change() -> None:
    with pytest.raises(AttributeError):
        belief(measurements()).seed = 3  # type: ignore[misc]
    one = belief(measurements())
    assert replace(one, seed=1).best == one.best


def test_deciding_needs_no_database_and_no_terminal() -> None:
    """Imported without the package's own door, which brings studies along."""
    lines = [
        "import sys, types",
        "top = sys.modules['ceibo'] = types.ModuleType('ceibo')",
        f"top.__path__ = {list(ceibo.__path__)!r}",
        "import ceibo.decide",
        "print([name for name in ('sqlalchemy', 'rich', 'typer') if name in sys.modules])",
    ]
    command = [sys.executable, "-c", "\n".join(lines)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


# -- through a study -------------------------------------------------------------------


def test_a_study_answers_from_one_belief_until_something_is_told() -> None:
    study = Study.create({"x": Float(0, 1)}, seed=0)
    study.add_all(({"x": float(x)}, (float(x) - 0.4) ** 2) for x in np.linspace(0, 1, 8))
    held = study.belief
    assert study.belief is held
    assert study.best.mean == held.best.mean
    study.tell(study.ask(), 0.3)
    assert study.belief is not held
