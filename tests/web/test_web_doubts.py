"""Values that look wrong, on the page: with the answer, in the table, in the check."""

from typing import Any

import numpy as np
import pytest

import ceibo
from ceibo.web.parity import parity_of
from tests.web.web_tools import Caller

SPACE = {"a": ceibo.Float(0, 1), "b": ceibo.Float(0, 1)}
WRONG = {7: 2.0, 16: -2.5}


def tell_values(study: ceibo.Study, name: str = "") -> None:
    rng = np.random.default_rng(1)
    for number in range(26):
        trial = study.ask()
        a, b = trial.params["a"], trial.params["b"]
        value = float(np.cos(4 * a) + 2 * (b - 0.4) ** 2 + 0.1 * rng.standard_normal())
        value += WRONG.get(number, 0.0)
        study.tell(trial, {name: value, "z": 1.0} if name else value)


@pytest.fixture(scope="module", params=["", "y<b>"])
def doubtful(request: pytest.FixtureRequest) -> Any:
    """A study of one objective, and one with outcomes."""
    options: dict[str, Any] = {}
    if request.param:
        options = {"outcomes": {request.param: ceibo.Minimize(), "z": ceibo.AtMost(2)}}
    study = ceibo.Study.create(SPACE, seed=3, **options)
    tell_values(study, request.param)
    yield Caller(study), study, request.param
    study.close()


def test_the_answer_says_which_value_looks_wrong(doubtful: Any) -> None:
    caller, _, name = doubtful
    shown = caller.get("/part/answer").body
    for number in WRONG:
        assert f"trial {number} looks wrong by" in shown.replace("Trial", "trial")
    assert 'class="wrong"' in shown
    assert "<b>" not in shown.split('<p class="wrong">')[1].split("</p>")[0]
    assert not name or "y&lt;b&gt; of trial" in shown.replace("Y&lt;", "y&lt;")
    assert "small.wrong" in caller.get("/static/report.css").body


def test_the_table_marks_it(doubtful: Any) -> None:
    shown = doubtful[0].get("/part/trials").body
    assert shown.count("looks wrong</small>") == len(WRONG)


def test_the_check_does_not_count_it_as_foreseen(doubtful: Any) -> None:
    caller, study, name = doubtful
    found = parity_of(study.joint_belief if name else study.belief)[name]
    deviations = dict(zip(found.numbers, found.deviations.tolist(), strict=True))
    assert {each.number for each in study.suspects} == set(WRONG)
    for suspect in study.suspects:
        assert abs(suspect.deviations) > 4
        assert deviations[suspect.number] == pytest.approx(suspect.deviations)
    shown = caller.get("/part/check").body
    assert '<small class="wrong">Trials 7, 16 look wrong.</small>' in shown
    within = int(np.sum(np.abs(found.deviations) <= 2))
    assert within < len(found)
    assert f"{within} of {len(found)} settings" in shown
    assert "outlying" in shown


def test_nothing_is_said_where_nothing_looks_wrong() -> None:
    study = ceibo.Study.create(SPACE, seed=3)
    for trial in study.ask(12):
        study.tell(trial, trial.params["a"])
    caller = Caller(study)
    for part in ("answer", "trials", "check"):
        assert "wrong" not in caller.get(f"/part/{part}").body
    study.close()
