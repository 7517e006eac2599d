"""Repeats by what they teach per cost: a direct search as oracle, limits, wrong input."""

import numpy as np
import pytest

from ceibo import Study
from ceibo import acquisition as acq
from ceibo.decide import Float, Measurement, Precision, Settings, Space, Told, evidence_of, suggest
from ceibo.decide.record import to_record
from ceibo.decide.suggest import Suggestion
from ceibo.errors import InputError
from ceibo.gp import Blocks, GaussianProcess, Matern52

SPACE = Space({"x": Float(0, 1)})


def process(noise: float = 0.3) -> GaussianProcess:
    X = np.linspace(0.05, 0.95, 7)[:, None]
    return GaussianProcess(X, np.cos(5 * X[:, 0]), noise**2, Matern52([0.3]))


def suggestion(precision: Precision | None, noise: float | None = None) -> Suggestion:
    rng = np.random.default_rng(3)
    X = np.linspace(0.05, 0.95, 8)
    told = [
        Told(k, np.array([x]), Measurement(np.cos(5 * x) + 0.3 * rng.standard_normal(), noise))
        for k, x in enumerate(X)
    ]
    settings = Settings(precision=precision)
    return suggest(evidence_of(told, 1), SPACE, settings, None, 0, 8)


@pytest.mark.parametrize("place", [0.1, 0.62, 0.63, 1.0])
def test_the_gains_are_those_of_one_measurement_with_less_noise(place: float) -> None:
    gp, x = process(), np.array([place])
    found = acq.log_gains_of_repeats(gp, x, 6)
    for m, gain in enumerate(found, 1):
        once = acq.build("knowledge-gradient", gp, next_noise_variance=0.09 / m)
        assert gain == pytest.approx(float(once.log_value(x[None, :])[0] - np.log(gp.unit)))
    assert np.all(np.diff(found) > 0)  # more values teach more


def test_the_offset_of_a_block_is_not_averaged_out() -> None:
    """All values of a trial are in one new block, which shifts their mean as it shifts each."""
    plain, x, spread = process(), np.array([0.62]), 0.5
    of = np.arange(len(plain.X)) % 2
    blocked = GaussianProcess(
        plain.X, plain.y, 0.09, plain.kernel, blocks=Blocks(of, np.array([spread**2]))
    )
    found = acq.log_gains_of_repeats(blocked, x, 6)
    for m, gain in enumerate(found, 1):
        once = acq.build("knowledge-gradient", blocked, next_noise_variance=0.09 / m)
        assert gain == pytest.approx(float(once.log_value(x[None, :])[0] - np.log(blocked.unit)))


def test_under_limits_they_are_those_of_the_goal() -> None:
    gp, x = process(), np.array([0.7])
    limit = acq.Limit(GaussianProcess([[0.5]], [0.0], 0.01, Matern52([0.5])), 50.0)  # it holds
    free = acq.log_gains_of_repeats(gp, x, 4)
    assert acq.log_gains_of_repeats(gp, x, 4, [limit]) == pytest.approx(free)


@pytest.mark.parametrize(("setup", "repeat"), [(1.0, 0.2), (1.0, 1.0), (5.0, 0.1), (0.1, 1.0)])
def test_the_best_rate_is_chosen(setup: float, repeat: float) -> None:
    gains = np.exp(acq.log_gains_of_repeats(process(), np.array([0.62]), 16))
    price = Precision(setup, repeat)
    rates = [gain / (setup + m * repeat) for m, gain in enumerate(gains, 1)]
    assert price.repeats(np.log(gains)) == 1 + int(np.argmax(rates))


def test_the_limits() -> None:
    gains = acq.log_gains_of_repeats(process(), np.array([0.62]), 16)
    assert Precision(1.0, 0.0).repeats(gains) == 16  # what costs nothing more
    assert Precision(0.0, 1.0).repeats(gains) == 1  # where another trial costs no more
    counts = [Precision(setup, 1.0).repeats(gains) for setup in (0.5, 2.0, 8.0, 32.0, 128.0)]
    assert counts == sorted(counts)  # the dearer the set-up, the more
    assert counts[-1] > counts[0]
    exact = acq.log_gains_of_repeats(process(noise=0.0), np.array([0.5]), 8)
    assert Precision(1.0, 0.1).repeats(exact) == 1  # there is nothing to average
    assert Precision(1.0, 0.1).repeats(np.full(8, -np.inf)) == 1  # there is nothing to learn


def test_only_the_ratio_of_the_costs_matters() -> None:
    gains = acq.log_gains_of_repeats(process(), np.array([0.62]), 16)
    assert Precision(3.0, 0.6).repeats(gains) == Precision(300.0, 60.0).repeats(gains)


def test_a_suggestion_says_how_often_from_the_inferred_noise() -> None:
    found = suggestion(Precision(1.0, 0.2))
    assert found.model is not None
    gp = found.model.gp
    assert gp.expected_noise == found.model.fit.noise_variance  # that of one value
    gains = acq.log_gains_of_repeats(gp, found.x, 16)
    assert found.repeats == Precision(1.0, 0.2).repeats(gains)
    assert to_record(found, 3, 0)["repeats"] == found.repeats


def test_without_a_price_nothing_is_said_and_the_point_is_the_same() -> None:
    plain, priced = suggestion(None, 0.3), suggestion(Precision(1.0, 0.2), 0.3)
    assert plain.repeats is None
    assert "repeats" not in to_record(plain, 3, 0)
    assert np.array_equal(plain.x, priced.x)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"setup": -1.0, "repeat": 1.0}, "precision: setup must be a finite number, zero or above"),
        ({"setup": 1.0, "repeat": float("nan")}, "precision: repeat must be"),
        ({"setup": True, "repeat": 1.0}, "precision: setup must be"),
        ({"setup": 1.0, "repeat": 1.0, "most": 0}, "precision: most must be a whole number"),
        ({"setup": 0, "repeat": 0}, "both 0"),
    ],
)
def test_wrong_prices(options: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Precision(**options)  # type: ignore[arg-type]  # most is a whole number


def test_json_and_settings() -> None:
    price = Precision(2, 0.5, 8)
    assert Precision.from_json(price.to_json()) == price
    with pytest.raises(InputError, match="expected setup, repeat and, if you like, most"):
        Precision.from_json({"setup": 1.0})
    with pytest.raises(InputError, match=r"precision must be a ceibo\.Precision"):
        Settings(precision=(1.0, 0.2))  # type: ignore[arg-type]  # that is the mistake
    assert "precision" not in Settings(precision=price).to_json()


def test_one_value_told_as_exact_does_not_make_the_next_one_exact() -> None:
    rng = np.random.default_rng(0)
    study = Study.create({"x": Float(0, 1)}, seed=0)
    for x in np.linspace(0, 1, 15):
        study.add({"x": float(x)}, float((x - 0.4) ** 2 + 0.1 * rng.standard_normal()))
    before = study.ledger.belief().model.gp.expected_noise
    study.add({"x": 1.0}, 0.36, noise=0.0)
    after = study.ledger.belief().model.gp.expected_noise
    assert before
    assert after
    assert 0.5 < after / before < 2
