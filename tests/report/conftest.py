"""Studies to report on: an ordinary one, and one made to break pages."""

from typing import Any

import numpy as np
import pytest

import ceibo
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
