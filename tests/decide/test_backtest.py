"""The replay of a search among past measurements."""

import numpy as np
import pytest

import ceibo
from ceibo.errors import InputError, NoMeasurementError


def table(seed: int, count: int = 40, noise: float = 0.0) -> ceibo.Study:
    """Past measurements in an order that comes to the best last."""
    rng = np.random.default_rng(seed)
    space = {"x": ceibo.Float(0, 1), "kind": ceibo.Categorical(["a", "b"])}
    study = ceibo.Study.create(space, direction="maximize")
    rows = []
    for x in rng.random(count):
        kind = str(rng.choice(["a", "b"]))
        value = 10 - 8 * (x - 0.7) ** 2 - (kind == "b") + noise * rng.standard_normal()
        rows.append(({"x": float(x), "kind": kind}, float(value)))
    rows.sort(key=lambda row: row[1])
    study.add_all(rows)
    return study


@pytest.mark.parametrize("seed", range(3))
def test_the_best_is_found_sooner_than_in_a_bad_order(seed: int) -> None:
    found = ceibo.backtest(table(seed), seeds=5)
    assert found.settings == 40
    assert found.raw.own == 40
    assert found.raw.number == 39
    assert found.raw.sooner >= 4
    assert found.raw.median < found.random == 20.5
    assert all(1 <= each <= 40 for each in found.raw.found)
    assert found.raw.value == pytest.approx(10.0, abs=0.5)


def test_a_good_order_is_not_beaten() -> None:
    study = table(0)
    turned = ceibo.Study.create(study.space, direction="maximize")
    for trial in reversed(study.trials):
        turned.add(trial.params, trial.measurements[0])
    found = ceibo.backtest(turned, seeds=4)
    assert found.raw.own == 1
    assert found.raw.sooner == 0


def test_a_replay_depends_on_its_seed_alone() -> None:
    study = table(1)
    several, fewer = ceibo.backtest(study, seeds=4), ceibo.backtest(study, seeds=2)
    assert several.raw.found[:2] == fewer.raw.found
    assert len(set(several.raw.found)) > 1


def test_measurements_of_one_setting_are_taken_together_and_failures_left_out() -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)})
    for x in np.linspace(0, 1, 12):
        study.add({"x": x}, (x - 0.5) ** 2)
        study.add({"x": x}, (x - 0.5) ** 2 + 0.01)
        study.add({"x": x}, ceibo.study.Failure("leak"))
    found = ceibo.backtest(study, seeds=2)
    assert found.settings == 12
    assert found.raw.own in (6, 7)


def test_noise_tells_the_best_value_from_the_best_setting() -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)})
    for x in np.linspace(0, 1, 15):
        study.add({"x": x}, (x - 0.5) ** 2, noise=0.01)
    study.add({"x": 0.99}, -5.0, noise=20.0)  # a fluke
    found = ceibo.backtest(study, seeds=2)
    assert found.raw.number == 15
    assert found.believed.params["x"] == pytest.approx(0.5, abs=0.08)
    assert f"trial {found.believed.number} is expected to be better" in str(found)


def test_what_cannot_be_replayed_is_said() -> None:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)})
    with pytest.raises(NoMeasurementError):
        ceibo.backtest(study)
    for x in (0.1, 0.2, 0.3):
        study.add({"x": x}, x)
    with pytest.raises(InputError, match="at 8 different settings or more, got 3"):
        ceibo.backtest(study)
    joint = ceibo.Study.create({"x": ceibo.Float(0, 1)}, outcomes={"a": ceibo.Minimize()})
    with pytest.raises(InputError, match="several outcomes"):
        ceibo.backtest(joint)
