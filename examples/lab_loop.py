"""A lab notebook over days: every morning ask what to try, every evening tell what came out.

The study lives in a file. Nothing else has to stay switched on: each half of the day opens the
study anew, as two people at two computers would. Here a simulated experiment stands for the lab.
"""

import random
from pathlib import Path
from typing import Any

import ceibo

STORAGE = "sqlite:///lab.db"
SPACE = {
    "temperature": ceibo.Float(20, 90),
    "acid": ceibo.Float(0.01, 1.0, log=True),
    "solvent": ceibo.Categorical(["water", "ethanol"]),
}
PER_DAY = 3  # experiments that fit into one day


def morning() -> list[tuple[int, dict[str, Any]]]:
    """Numbers and settings of today's experiments, chosen to be measured side by side."""
    study = ceibo.Study.open(STORAGE, "yield")
    plan = [(trial.number, trial.params) for trial in study.ask(PER_DAY)]
    study.close()
    return plan


def evening(results: dict[int, float | str]) -> str:
    """Writes down today's yields (or what went wrong), and says where things stand."""
    study = ceibo.Study.open(STORAGE, "yield")
    for number, outcome in results.items():
        if isinstance(outcome, str):
            study.fail(number, outcome)
        else:
            study.tell(number, outcome, noise=2.0)
    best, worth = study.best, study.should_stop(cost=0.5)
    study.close()
    return f"best {best.mean:.1f} ± {best.std:.1f} % at trial {best.number}; {worth.message}"


def experiment(params: dict[str, Any], rng: random.Random) -> float | str:
    """The lab: a yield in percent, or an accident."""
    if params["temperature"] > 85:
        return "boiled over"
    peak = 55.0 if params["solvent"] == "ethanol" else 70.0
    true: float = (
        80.0 - 0.03 * (params["temperature"] - peak) ** 2 - 20.0 * abs(params["acid"] - 0.3)
    )
    return true - (5.0 if params["solvent"] == "water" else 0.0) + rng.gauss(0, 2.0)


def main() -> None:
    Path("lab.db").unlink(missing_ok=True)
    study = ceibo.Study.create(SPACE, storage=STORAGE, name="yield", direction="maximize", seed=0)
    study.enqueue({"temperature": 60, "acid": 0.1, "solvent": "water"})  # what has always been done
    study.close()
    rng = random.Random(0)
    for day in range(1, 8):
        plan = morning()
        print(f"day {day}: {evening({number: experiment(params, rng) for number, params in plan})}")


if __name__ == "__main__":
    main()
