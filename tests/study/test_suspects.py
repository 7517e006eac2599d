"""Suspects of a study: in its answers, its record, the shell, the progress and the report."""

import json
from typing import Any

import numpy as np
import pytest

import ceibo
from ceibo.cli.suspicion import print_suspects, suspects_json
from ceibo.report import render_report
from ceibo.study import Study

SPACE = {"a": ceibo.Float(0, 1), "b": ceibo.Float(0, 1)}
WRONG = {7: 2.0, 16: -2.5}


def objective(params: dict[str, Any]) -> float:
    return float(np.cos(4 * params["a"]) + 2 * (params["b"] - 0.4) ** 2)


def run(study: Study, trials: int = 26) -> Study:
    rng = np.random.default_rng(1)
    for number in range(trials):
        trial = study.ask()
        noise = 0.1 * rng.standard_normal()
        study.tell(trial, objective(trial.params) + noise + WRONG.get(number, 0.0))
    return study


@pytest.fixture(scope="module")
def doubtful() -> Study:
    return run(Study.create(SPACE, seed=3))


def test_suspects_are_named_and_recorded(doubtful: Study) -> None:
    assert {each.number for each in doubtful.suspects} == set(WRONG)
    assert doubtful.suspects == ceibo.Result(doubtful, None).suspects  # type: ignore[arg-type]
    records = doubtful.suggestions
    assert "discounted" not in records[5]
    last = records[25]["discounted"]
    assert {each["trial"] for each in last} == set(WRONG)
    assert all(each["noise"] > 2.0 for each in last)


def test_suggestions_with_suspects_are_verified(doubtful: Study) -> None:
    verification = doubtful.verify()
    assert verification.ok
    assert verification.identical == 26


def test_voiding_a_suspect_is_the_end_of_it() -> None:
    study = run(Study.create(SPACE, seed=3))
    for number in WRONG:
        study.void(number, "the probe was loose")
    assert study.suspects == ()
    study.close()


def test_a_key_tells_which_measurement_it_is() -> None:
    study = run(Study.create(SPACE, seed=3))
    study.tell(7, objective(study.trials[7].params), key="again")
    keys = {each.number: each.key for each in study.suspects}
    assert keys == {7: "", 16: None}
    study.void(7, "wrong", key=keys[7])
    assert [each.number for each in study.suspects] == [16]
    study.close()


def test_a_study_without_measurements_has_no_suspects() -> None:
    study = Study.create(SPACE)
    assert study.suspects == ()
    study.close()


def test_a_study_may_believe_everything() -> None:
    study = run(Study.create(SPACE, seed=3, outliers=False))
    assert study.suspects == ()
    assert all("discounted" not in record for record in study.suggestions.values())
    study.close()


def test_the_shell_says_what_looks_wrong(
    doubtful: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    print_suspects(doubtful)
    lines = capsys.readouterr().out.splitlines()
    assert any("trial 7 looks wrong by " in line for line in lines)
    assert lines[-1].startswith("they count less in the model; correct or void what is wrong")
    (first, _) = json.loads(json.dumps(suspects_json(doubtful)))["suspects"]
    assert first["trial"] == 7
    assert first["deviations"] > 4


def test_the_report_marks_them(doubtful: Study) -> None:
    page = render_report(doubtful)
    assert page.count('<small class="wrong">looks wrong</small>') == 2
    assert '<p class="wrong">Trial ' in page
    clean = run(Study.create(SPACE, seed=3, outliers=False))
    assert "wrong" not in render_report(clean)
    clean.close()


def test_a_run_ends_with_what_looks_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    count = 0

    def measure(params: dict[str, Any]) -> float:
        nonlocal count
        count += 1
        return objective(params) + 0.1 * rng.standard_normal() + WRONG.get(count - 1, 0.0)

    result = ceibo.minimize(measure, SPACE, n_trials=22, seed=3, progress=True)
    said = capsys.readouterr().err
    assert {each.number for each in result.suspects} == set(WRONG)
    assert "trial 16 looks wrong by " in said.replace("\n", " ")
