"""The profiler says what `study.predict` says, at the setting and along every parameter."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ceibo
from ceibo.web.actions import tell
from ceibo.web.maps import kinds_of
from ceibo.web.parity import parity_of
from ceibo.web.profiler import check_place, moved_place, place_of, profile, setting_at, where
from ceibo.web.session import Session
from ceibo.web.views import _axes
from tests.web.web_tools import Caller

DIALS = {
    "temp": ceibo.Float(20, 90),
    "rate": ceibo.Float(1e-5, 1e-1, log=True),
    "hours": ceibo.Ordinal([1, 2, 4, 24]),
    "solvent": ceibo.Categorical(["water", "ethanol"]),
}
OUTCOMES = {"yield": ceibo.Maximize(low=0, high=100), "impurity": ceibo.AtMost(2.0)}


def measured(space: Any, told: Any, **options: Any) -> ceibo.Study:
    study = ceibo.Study.create(space, seed=2, n_initial=8, **options)
    for _ in range(8):
        trial = study.ask()
        study.tell(trial, told(trial.params))
    return study


def react(params: dict[str, Any]) -> dict[str, float]:
    worth = 70 - ((params["temp"] - 60) / 10) ** 2 + np.log10(params["rate"])
    return {"yield": worth, "impurity": params["temp"] / 30 + 0.1 * params["hours"]}


@pytest.fixture(scope="module")
def reaction() -> ceibo.Study:
    return measured(DIALS, react, outcomes=OUTCOMES)


def test_slices_are_predictions(reaction: ceibo.Study) -> None:
    belief, space = reaction.joint_belief, reaction.space
    params = {"temp": 47.5, "rate": 3e-4, "hours": 4, "solvent": "ethanol"}
    place = place_of(space, params)
    for name in OUTCOMES:
        found = profile(belief, place, name)
        (estimate,) = reaction.predict([params])
        row = {each["name"]: each for each in found["believed"]["outcomes"]}[name]
        assert row["mean"] == pytest.approx(estimate.outcomes[name].mean, rel=1e-9)
        assert row["std"] == pytest.approx(estimate.outcomes[name].std, rel=1e-6)
        for column, each in enumerate(found["slices"]):
            for k in (0, len(each["at"]) // 2, -1):
                moved = place.copy()
                moved[column] = each["at"][k]
                (there,) = reaction.predict([space.from_unit(moved)])
                known = there.outcomes[name]
                assert each["mean"][k] == pytest.approx(known.mean, rel=1e-5)
                assert each["chance"][k] == pytest.approx(there.p_feasible, abs=1e-5)
                spread = each["high"][k] - each["low"][k]
                assert spread <= 2 * known.std * (1 + 1e-5)
    assert found["limit"] == 2.0


def test_while_the_hand_moves_bands_are_sketched_and_all_else_is_exact() -> None:
    study = ceibo.Study.create({f"x{k}": ceibo.Float(0, 1) for k in range(4)}, seed=1)
    rng = np.random.default_rng(0)
    for x in rng.random((120, 4)):
        params = {f"x{k}": float(each) for k, each in enumerate(x)}
        study.add(params, float(np.sum((x - 0.4) ** 2) + 0.05 * rng.standard_normal()))
    caller = Caller(study)
    asked = {"at": [0.2, 0.5, 0.5, 0.9], "outcome": 0, "column": 0}
    exact = caller.post("/view/profile", asked).data
    moving = caller.post("/view/profile", asked | {"moving": True}).data
    assert moving["believed"] == exact["believed"]
    assert moving["slices"] != exact["slices"]
    for one, other in zip(exact["slices"], moving["slices"], strict=True):
        assert one["mean"] == other["mean"]
        assert other["low"][::3] == pytest.approx(one["low"][::3], rel=1e-6)
        assert other["low"] == pytest.approx(one["low"], abs=0.01)


def test_a_page_sends_a_place_and_gets_values(reaction: ceibo.Study) -> None:
    caller = Caller(reaction)
    start = caller.post("/view/axes", {}).data
    assert [axis["name"] for axis in start["axes"]] == list(DIALS)
    asked = {"at": start["at"], "outcome": 0, "column": 0, "text": "55.25"}
    found = caller.post("/view/profile", asked).data
    assert found["shown"][0] == "55.25"
    params = reaction.best.params | {"temp": 55.25}
    (estimate,) = reaction.predict([params])
    assert found["believed"]["outcomes"][0]["mean"] == pytest.approx(estimate.mean, rel=1e-9)
    for wrong in (asked | {"text": "500"}, asked | {"at": [0.5]}, asked | {"at": [2, 0, 0, 0]}):
        assert caller.post("/view/profile", wrong).status == 400
    for kind in range(len(kinds_of(reaction.outcomes))):
        wanted = {"at": start["at"], "first": 0, "second": 3, "kind": kind, "outcome": 0}
        assert "<svg" in caller.post("/view/map", wanted).data["html"]
    assert caller.post("/view/map", wanted | {"second": 0}).status == 400
    held = {"to": "held", "at": found["at"], "fixed": [{"column": 3}]}
    there = reaction.space.from_unit(caller.post("/view/jump", held).data["at"])
    assert there["solvent"] == params["solvent"]


def test_equalities_follow_the_hand_and_rules_are_named() -> None:
    parts = {name: ceibo.Float(0, 1) for name in "abc"} | {"temp": ceibo.Float(20, 90)}
    rules = ["a + b + c == 1", "temp <= 60 if a >= 0.5"]
    space = ceibo.Space(parts, constraints=rules)
    study = measured(space, lambda params: params["a"] + params["temp"])
    start = place_of(space, {"a": 0.2, "b": 0.5, "c": 0.3, "temp": 80.0})
    moved = start.copy()
    moved[0] = 0.6
    there = moved_place(space, moved, 0)
    assert there[:3].sum() == pytest.approx(1.0)
    assert there[0] == 0.6
    assert there[1] / there[2] == pytest.approx(5 / 3)
    found = profile(study.belief, there, "")
    assert found["broken"] == rules[1]
    assert found["slices"][3]["held"][0]
    assert not found["slices"][3]["held"][-1]
    assert where(space, start)["broken"] is None
    settled = setting_at(space, start)
    space.check_rules(settled)


def test_what_does_not_exist_is_not_shown_and_changes_nothing() -> None:
    space = {
        "kind": ceibo.Categorical(["sgd", "adam"]),
        "momentum": ceibo.Float(0, 1, when={"kind": "sgd"}),
    }
    study = measured(space, lambda params: params.get("momentum", 0.5))
    belief = study.belief
    place = place_of(study.space, {"kind": "adam"}, belief)
    found = profile(belief, place, "")
    assert found["shown"] == ["adam", None]
    assert len(set(found["slices"][1]["mean"])) == 1
    place[0] = study.space.to_unit({"kind": "sgd", "momentum": 0.5})[0]
    assert profile(belief, place, "")["shown"][1] is not None


def test_a_place_lies_on_the_levels() -> None:
    space = ceibo.Space(DIALS)
    place = check_place(space, [0.5, 0.5, 0.3, 0.9])
    assert space.from_unit(place)["hours"] == 4  # the nearest on the axis, where 24 is far away
    assert place[3] == space.discrete[3][1]


def test_measured_is_compared_in_the_users_units(reaction: ceibo.Study) -> None:
    found = parity_of(reaction.joint_belief)
    worth = found["yield"]
    told = sorted(trial.outcomes["yield"][0].value for trial in reaction.trials)
    assert np.sort(worth.measured) == pytest.approx(told)
    assert "impurity" in found
    assert len(worth) <= len(told)


def excluding(tmp_path: Path) -> ceibo.Study:
    space = {
        "temp": ceibo.Float(20, 120, step=5),
        "solvent": ceibo.Categorical(["water", "dioxane"]),
    }
    rules = ["temp <= 100 if solvent == 'dioxane'"]
    return ceibo.Study.create(
        ceibo.Space(space, constraints=rules), storage=f"sqlite:///{tmp_path}/e.db"
    )


def test_a_setting_that_a_rule_excludes_is_refused_and_no_other_is_measured(tmp_path: Path) -> None:
    study = excluding(tmp_path)
    place = place_of(study.space, {"temp": 120.0, "solvent": "dioxane"}).tolist()
    answer = Caller(study).post("/do/enqueue", {"at": place, "key": "page-1", "now": True})
    assert answer.status == 400
    with pytest.raises(ceibo.InputError) as refused:
        study.enqueue({"temp": 120.0, "solvent": "dioxane"})
    assert answer.data["error"].casefold() == str(refused.value).casefold()
    assert "change one of them" in answer.data["error"]
    assert study.trials == ()


def test_the_setting_in_hand_is_measured_next_also_if_others_wait(tmp_path: Path) -> None:
    study = excluding(tmp_path)
    study.enqueue({"temp": 50.0, "solvent": "water"})
    place = place_of(study.space, {"temp": 90.0, "solvent": "dioxane"}).tolist()
    sent = {"at": place, "key": "page-1", "now": True}
    assert "Trial 1 is to be measured" in Caller(study).post("/do/enqueue", sent).data["said"]
    assert [trial.state for trial in study.trials] == ["queued", "running"]
    assert study.trials[1].params == {"temp": 90.0, "solvent": "dioxane"}


def test_rounding_of_a_setting_in_hand_is_repaired() -> None:
    """Also on grids that are searched as continuous, and where some parameters do not exist."""
    fine = {name: ceibo.Float(0, 1, step=0.0001) for name in "abc"}
    kinds = {
        "kind": ceibo.Categorical(["none", "salt"]),
        "much": ceibo.Float(0, 1, when={"kind": "salt"}),
    }
    rng = np.random.default_rng(3)
    for parts in ({name: ceibo.Float(0, 1) for name in "abc"}, fine):
        space = ceibo.Space(parts | kinds, constraints=["a + b + c == 1"])
        study = ceibo.Study.create(space)
        caller = Caller(study)
        for k, place in enumerate(rng.random((6, 5))):
            place[:3] /= place[:3].sum()
            shown = where(space, moved_place(space, check_place(space, place.tolist()), None))
            sent = {"at": shown["at"], "key": f"page-{k}", "now": True}
            assert caller.post("/do/enqueue", sent).status == 200
            params = study.trials[k].params
            space.check_rules(params)
            on_screen = [float(text) for text in shown["shown"][:3]]
            assert [params[name] for name in "abc"] == pytest.approx(on_screen, abs=6e-4)


def test_the_page_draws_where_a_parameter_came_later_or_no_trial_has_all_outcomes() -> None:
    """The profiler failed at every look, and with it all that is drawn after it."""
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, seed=0)
    for x in (0.1, 0.4, 0.6, 0.9):
        study.add({"x": x}, (x - 0.5) ** 2)
    study.change({"x": ceibo.Float(0, 1), "n": ceibo.Float(0, 1)}, before={"n": 0.5})
    assert _axes(Session(study), {})["at"][1] == 0.5
    outcomes = {"yield": ceibo.Maximize(), "impurity": ceibo.AtMost(2.0)}
    apart = ceibo.Study.create({"x": ceibo.Float(0, 1)}, outcomes=outcomes, seed=0)
    apart.ask(2)
    apart.tell(0, {"yield": 80})
    apart.tell(1, {"impurity": 1})
    assert len(_axes(Session(apart), {})["at"]) == 1


def test_a_note_of_a_later_value_stands_beside_the_earlier_one() -> None:
    outcomes = {"yield": ceibo.Maximize(), "impurity": ceibo.AtMost(2.0)}
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, outcomes=outcomes, seed=0)
    study.ask()
    session = Session(study)
    for outcome, note in ((1, "heater slow"), (0, "GC new"), (0, "GC new")):
        value = {"outcome": outcome, "value": "1", "noise": ""}
        data = {"trial": 0, "attempt": 1, "values": [value], "block": "", "notes": note}
        tell(session, data)
    assert study.trials[0].attributes["notes"] == "heater slow; GC new"
