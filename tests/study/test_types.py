"""The types that a user's program sees, by `mypy --strict`."""

import inspect
import re
from pathlib import Path

from mypy import api

import ceibo
from ceibo.study.run import Options

ROOT = Path(__file__).parents[2]

PROGRAM = """
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import ceibo

space = {
    "x": ceibo.Float(0, 1), "n": ceibo.Int(1, 4), "solvent": ceibo.Categorical(["water", "ethanol"])
}


def process(p: dict[str, float]) -> float:
    return (p["x"] - 0.3) ** 2 + random.gauss(0, 0.1)


def measured(p: dict[str, Any]) -> ceibo.Measurement:
    return ceibo.Measurement(np.float32(p["x"]), noise=np.float32(0.1))


def single(p: dict[str, Any]) -> np.float32:
    return np.float32(p["x"])


def note(study: ceibo.Study, trial: ceibo.Trial) -> None:
    print(study.name, trial.params["x"] - 0.3)


callbacks = [note, lambda s, t: t.number > 5]
result = ceibo.minimize(process, space, n_trials=20, cost=0.01, callbacks=callbacks)
result = ceibo.maximize(measured, space, n_trials=20, executor=ThreadPoolExecutor(2))
result = ceibo.minimize(single, {"x": ceibo.Float(0, 1)})
result = ceibo.minimize(lambda p: (p["x"] - 0.3) ** 2, {"x": ceibo.Float(0, 1)})
rate: float = 10 ** result.best.params["x"]
print(f"{result.best.params['x']:.2f} {result.recommended.mean:.3g} {result.stop.reason.value}")

study = ceibo.Study.create(space, storage="sqlite:///lab.db")
study = ceibo.Study.open("sqlite:///lab.db", space=space)
trial = study.ask()
study.tell(trial, np.float32(trial.params["x"] - 0.3), noise=0.1)
study.tell(trial, ceibo.Measurement.of(np.array([0.1, 0.2])), key="again")
for each in study.ask(4):
    study.tell(each, ceibo.Measurement.of([0.1, np.float32(0.2)]))
study.add({"x": 0.5, "n": 2, "solvent": "water"}, 1)
study.report(cost=0.1).save("lab.html")
ceibo.plots.progress(result).set_title("progress")
print(ceibo.plots.slices(study, ["x"])[0].get_ylim(), ceibo.backtest(study, seeds=3).raw.median)
study.report(price=0.1)  # error: call-arg
ceibo.plots.histogram(study)  # error: attr-defined
ceibo.minimize(process, space, bogus=3)  # error: call-arg
ceibo.maximize(process, space, bogus=3)  # error: call-arg
ceibo.maximize(process, space, n_trials="4")  # error: arg-type
ceibo.minimize(process, {"x": (0, 1)})  # error: dict-item
ceibo.minimize(lambda p: "0.3", space)  # error: arg-type return-value
study.tell(trial, "0.3")  # error: arg-type
"""


def test_a_typical_program_is_clean_and_mistakes_are_found(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    options = ["--strict", "--no-error-summary", "--config-file", str(ROOT / "pyproject.toml")]
    out, err, _ = api.run([*options, "--cache-dir", str(ROOT / ".mypy_cache"), str(program)])
    assert err == ""
    found: dict[int, set[str]] = {}
    for line, kind in re.findall(r"program\.py:(\d+): error: .*\[([a-z-]+)\]$", out, re.MULTILINE):
        found.setdefault(int(line), set()).add(kind)
    lines = enumerate(PROGRAM.splitlines(), start=1)
    assert found == {
        number: set(line.split("# error: ")[1].split())
        for number, line in lines
        if "# error" in line
    }, out


def test_maximize_takes_the_options_of_minimize() -> None:
    parameters = inspect.signature(ceibo.minimize).parameters.values()
    named = {each.name: each.annotation for each in parameters if each.kind is each.KEYWORD_ONLY}
    of_study = {
        name: kind[ceibo.Study] if getattr(kind, "__parameters__", ()) else kind
        for name, kind in Options.__annotations__.items()
    }
    assert of_study == {name: kind for name, kind in named.items() if name != "direction"}
