"""Studies to report on: an ordinary one, and one made to break pages."""

from typing import Any

import numpy as np
import pytest

import ceibo
from ceibo.decide import AtMost, Maximize, Minimize
from ceibo.errors import EvaluationsFailedError

HOSTILE = (
    "<script>window.hacked = 1</script>",
    "\"><img src=x onerror='window.hacked=1'>",
    "</style></svg><script>window.hacked=1</script>",
    "javascript:window.hacked=1",
    "日本 🌳 \u202e",
)


@pytest.fixture(scope="session")
def ordinary() -> ceibo.Study:
    """Four kinds of parameters, known noise, a failed and a pending trial."""
    rng = np.random.default_rng(1)
    space = {
        "temp": ceibo.Float(20, 90),
        "rate": ceibo.Float(1e-5, 1e-1, log=True),
        "layers": ceibo.Int(1, 8),
        "solvent": ceibo.Categorical(["water", "ethanol", "acetone"]),
    }

    def objective(params: dict[str, Any]) -> ceibo.Measurement:
        if params["temp"] > 88:
            raise EvaluationsFailedError(
                "exit status 3.\nlast standard error:\nreactor <b>overheated</b>"
            )
        value = ((params["temp"] - 58) / 30) ** 2 + 0.25 * (np.log10(params["rate"]) + 2.7) ** 2
        value += (
            0.03 * (params["layers"] - 4) ** 2
            + {"water": 0.2, "ethanol": 0.0, "acetone": 0.1}[params["solvent"]]
        )
        noise = rng.uniform(0.05, 0.25)
        return ceibo.Measurement(value + noise * rng.standard_normal(), noise=noise)

    study = ceibo.minimize(
        objective, space, n_trials=24, seed=3, name="catalyst", max_failures=20
    ).study
    study.fail(study.ask(), "reactor leaked <b>!</b>\nsecond line")
    study.ask()
    return study


@pytest.fixture(scope="session")
def hostile() -> ceibo.Study:
    """Names, choices and failures that would be code if they were not escaped; long texts."""
    names = [text[:190] for text in HOSTILE if text.isprintable()]
    space: dict[str, Any] = {name: ceibo.Categorical([*HOSTILE, "x" * 10_000]) for name in names}
    space["n" * 200] = ceibo.Float(0, 1)
    study = ceibo.Study.create(
        space, name="<script>window.hacked = 1</script>", seed=1, n_initial=8
    )
    for number in range(14):
        trial = study.ask()
        if number % 5 == 4:
            study.fail(trial, f"{HOSTILE[number % len(HOSTILE)]}\n" + HOSTILE[1] * 300)
        else:
            study.tell(trial, float(number % 3) - trial.params["n" * 200])
    return study


def _react(params: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """A yield, an impurity that rises with the temperature, and a cost, measured with noise."""
    temp, rate = params["temp"], np.log10(params["rate"])
    worth = 92 - ((temp - 62) / 16) ** 2 * 12 - 9 * (rate + 2.6) ** 2
    impurity = 0.4 + 0.035 * max(temp - 38, 0) + 0.35 * (rate + 3.5)
    impurity += 0.3 if params["solvent"] == "ethanol" else 0.0
    return {
        "yield": ceibo.Measurement(worth + 2 * rng.standard_normal(), noise=2.0),
        "impurity": impurity + 0.1 * rng.standard_normal(),
        "cost": 4 + 0.05 * temp + rate + 0.2 * rng.standard_normal(),
    }


def _reaction(outcomes: dict[str, Any]) -> ceibo.Study:
    rng = np.random.default_rng(1)
    space = {
        "temp": ceibo.Float(20, 90),
        "rate": ceibo.Float(1e-5, 1e-1, log=True),
        "solvent": ceibo.Categorical(["water", "ethanol"]),
    }
    study = ceibo.Study.create(space, outcomes=outcomes, name="reaction", seed=1, n_initial=12)
    for number in range(14):
        trial = study.ask()
        told = {name: each for name, each in _react(trial.params, rng).items() if name in outcomes}
        if number == 5:
            study.fail(trial, "reactor leaked")
        else:
            study.tell(trial, told)
    study.tell(study.ask(), {"yield": 50.0})  # its impurity comes later
    return study


@pytest.fixture(scope="session")
def limited() -> ceibo.Study:
    """One goal, a limit, known and unknown noise, a failed trial and one half told."""
    limit = {"yield": Maximize(unit="%", low=0, high=100), "impurity": AtMost(2.0, unit="%")}
    return _reaction(limit)


@pytest.fixture(scope="session")
def two_goals() -> ceibo.Study:
    """Two goals and a limit."""
    wishes = {"yield": Maximize(unit="%", low=0, high=100), "cost": Minimize(unit="EUR")}
    return _reaction(wishes | {"impurity": AtMost(2.0, unit="%")})


def _syrup(aim: dict[str, Any]) -> ceibo.Study:
    """A mixture of three parts with rules about it and about a solvent, measured 14 times."""
    rng = np.random.default_rng(3)
    space = ceibo.Space(
        {
            "sugar": ceibo.Float(0, 0.6),
            "water": ceibo.Float(0.05, 1),
            "acid": ceibo.Float(0, 1),
            "temp": ceibo.Float(20, 90),
            "hours": ceibo.Ordinal([1, 2, 4, 8, 24]),
            "solvent": ceibo.Categorical(["THF", "DMF"]),
        },
        constraints=[
            "sugar + water + acid == 1",
            "sugar <= 0.5 * water",
            "temp <= 66 if solvent == 'THF'",
        ],
    )
    study = ceibo.Study.create(space, name="syrup", seed=1, n_initial=8, **aim)
    for _ in range(14):
        trial = study.ask()
        mixed = 8 * (trial.params["sugar"] - 0.2) ** 2 + 3 * (trial.params["acid"] - 0.2) ** 2
        value = mixed + ((trial.params["temp"] - 70) / 40) ** 2 + 0.05 * rng.standard_normal()
        told: Any = value
        if "outcomes" in aim:
            told = {"loss": value, "colour": 3 * trial.params["acid"] + 0.1 * rng.standard_normal()}
        study.tell(trial, told)
    return study


@pytest.fixture(scope="session")
def syrup() -> ceibo.Study:
    """A mixture with rules and one objective."""
    return _syrup({})


@pytest.fixture(scope="session")
def limited_syrup() -> ceibo.Study:
    """The same with a limit."""
    return _syrup({"outcomes": {"loss": ceibo.Minimize(), "colour": ceibo.AtMost(1.5)}})
