"""What forms do to a study: told, corrected and voided once, and never over somebody else's."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ceibo
from ceibo.decide import Measurement
from ceibo.errors import InputError
from ceibo.web.entries import read_block, read_measurement, read_number
from tests.web.web_tools import Caller


def tell(number: int, value: str, **more: Any) -> dict[str, Any]:
    values = [{"outcome": 0, "value": value, "noise": more.pop("noise", "")}]
    return {"trial": number, "attempt": 1, "values": values, **more}


@pytest.fixture
def study(tmp_path: Path) -> ceibo.Study:
    made = ceibo.Study.create({"x": ceibo.Float(0, 1)}, storage=f"sqlite:///{tmp_path}/a.db")
    made.ask(3)
    return made


@pytest.fixture
def caller(study: ceibo.Study) -> Caller:
    return Caller(study)


@pytest.mark.parametrize(
    ("value", "noise", "expected"),
    [
        ("81.2", "", Measurement(81.2)),
        ("-1e-3", "0.5", Measurement(-1e-3, noise=0.5)),
        ("0.31 0.29;0.36", "", Measurement.of([0.31, 0.29, 0.36])),
        ("1 3", "0.2", Measurement(2, 0.2, (1, 3))),
        ("", "", None),
    ],
)
def test_typed_values_are_read(value: str, noise: str, expected: Measurement | None) -> None:
    assert read_measurement(value, noise, "yield") == expected


@pytest.mark.parametrize(
    ("value", "noise", "advice"),
    [
        ("1,234", "", "write 1.234 or 1234"),
        ("-12,345", "", "write -12.345 or -12345"),
        ("1.234,5", "", "write 1234.5"),
        ("1,234.5", "", "write 1234.5"),
        ("1,2,3", "", "expected a number"),
        ("70, 71", "", "without a space, and a space or ; between replicates"),
        ("70 ,5", "", "without a space, and a space or ; between replicates"),
        ("81 mg", "", "leave out 'mg'"),
        ("81 %", "", "leave out '%'"),
        ("81 °C", "", "leave out '°C'"),
        ("1'000", "", 'expected a number, got "1\'000"\\.$'),
        ("1_000", "", "expected a number, got '1_000'\\.$"),
        ("5/2", "", "expected a number, got '5/2'\\.$"),
        ("1e5x", "", "expected a number, got '1e5x'\\.$"),
        ("71 ± 2", "", "in the field beside it"),
        ("9" * 390, "", "expected a number"),
        ("x", "", "expected a number, got 'x'"),
        ("< 2", "", "best guess"),
        ("nan", "", "failed"),
        ("1 000", "", "write 1000 without a gap"),
        ("1 000,5", "", "write 1000,5 without a gap"),
        ("1\N{NO-BREAK SPACE}000,5", "", "write 1000,5 without a gap"),
        ("1\N{NARROW NO-BREAK SPACE}234,5", "", "write 1234,5 without a gap"),
        ("\N{MINUS SIGN}1 000", "", "write \N{MINUS SIGN}1000 without a gap"),
        ("", "0.1", "without a value"),
        ("1", "-2", "noise"),
    ],
)
def test_what_is_no_value_is_explained(value: str, noise: str, advice: str) -> None:
    with pytest.raises(InputError, match=advice):
        read_measurement(value, noise, "yield")


@pytest.mark.parametrize(
    ("value", "noise", "unit", "expected"),
    [
        ("70,5", "", "", Measurement(70.5)),
        ("-70,5", "0,25", "", Measurement(-70.5, noise=0.25)),
        ("0,234", "", "", Measurement(0.234)),
        ("1234,567", "", "", Measurement(1234.567)),
        ("1,2345e2", "", "", Measurement(123.45)),
        ("70,5 71,5", "", "", Measurement.of([70.5, 71.5])),
        ("70,5; 71,5", "", "", Measurement.of([70.5, 71.5])),
        ("70 %", "1 %", "%", Measurement(70, noise=1)),
        ("70,5% 71,5 %;72,5", "", "%", Measurement.of([70.5, 71.5, 72.5])),
        ("71 mg", "0.5mg", "mg", Measurement(71, noise=0.5)),
        ("71 g / L 73", "", "g / L", Measurement.of([71, 73])),
        ("71", "", "1", Measurement(71)),
        ("5e3", "", "e3", Measurement(5000)),
    ],
)
def test_commas_and_the_unit_of_an_outcome_are_read(
    value: str, noise: str, unit: str, expected: Measurement
) -> None:
    assert read_measurement(value, noise, "yield", unit) == expected


@pytest.mark.parametrize("value", ["71 g", "71g", "70 71 g", "71 g 72 g"])
def test_another_unit_is_left_out(value: str) -> None:
    with pytest.raises(InputError, match="leave out 'g'; the unit is mg"):
        read_measurement(value, "", "yield", "mg")


def test_all_wrong_fields_of_a_form_are_named(tmp_path: Path) -> None:
    outcomes = {"yield": ceibo.Maximize(unit="%"), "salt": ceibo.AtMost(2.0, unit="mg")}
    space = {"x": ceibo.Float(0, 1), "y": ceibo.Float(0, 1)}
    made = ceibo.Study.create(space, outcomes=outcomes, storage=f"sqlite:///{tmp_path}/f.db")
    made.ask()
    caller = Caller(made)
    values = [
        {"outcome": 0, "value": "7O", "noise": "little"},
        {"outcome": 1, "value": "1", "noise": "-2"},
    ]
    sent = {"trial": 0, "attempt": 1, "values": values, "block": "=3"}
    said = caller.post("/do/tell", sent).data["error"]
    for part in ("Yield: expected", "yield, noise: expected", "salt: ", "block: expected"):
        assert part in said
    fixed = [{"column": 0, "text": "a"}, {"column": 1, "text": "b"}]
    asked = {"count": 1, "fixed": fixed, "shared": [], "key": ""}
    said = caller.post("/do/ask", asked).data["error"]
    assert "'x'" in said
    assert "'y'" in said


@pytest.mark.parametrize("text", ["", "inf", "nan", "< 2", "> 2", "2 ± 1"])
def test_what_to_do_about_a_value_is_said_of_values_alone(text: str) -> None:
    for what in ("parameter 'x'", "price", "yield, noise"):
        with pytest.raises(InputError) as refused:
            read_number(text, what)
        for advice in ("failed", "guess", "field beside"):
            assert advice not in str(refused.value)


def test_a_field_of_a_parameter_left_empty_is_no_limit(caller: Caller) -> None:
    held = {"count": 1, "fixed": [{"column": 0, "text": ""}], "shared": [], "key": ""}
    assert caller.post("/do/ask", held).data["error"] == "Parameter 'x': expected a number, got ''."


def test_every_field_takes_a_comma_and_a_unit(tmp_path: Path) -> None:
    outcomes = {"yield": ceibo.Maximize(unit="%"), "salt": ceibo.AtMost(2.0, unit="mg")}
    storage = f"sqlite:///{tmp_path}/g.db"
    made = ceibo.Study.create({"x": ceibo.Float(0, 1)}, outcomes=outcomes, storage=storage)
    caller = Caller(made)
    asked = {"count": 1, "fixed": [{"column": 0, "text": "0,25"}], "shared": [], "key": ""}
    assert caller.post("/do/ask", asked).status == 200
    assert made.trials[0].params == {"x": 0.25}
    made.tell(0, {"yield": 70.0, "salt": 1.0})
    stored = made.ledger.refresh().trials[0].measurements[1]
    row = {"trial": 0, "outcome": 1, "told": stored.seq, "version": stored.version}
    right = row | {"value": "1,5 mg", "noise": "0,1"}
    assert caller.post("/do/correct", right).status == 200
    assert made.trials[0].outcomes["salt"] == (Measurement(1.5, 0.1),)
    typed = {"at": [0.5], "outcome": 0, "column": 0, "text": "0,75"}
    assert caller.post("/view/profile", typed).data["shown"] == ["0.750"]
    made.enqueue({"x": 0.5})
    made.tell(made.ask(), {"yield": 71.0, "salt": 1.0})
    assert caller.post("/view/verdict", {"cost": "0,5 %"}).status == 200


def test_blocks_are_names_or_kinds_with_names() -> None:
    assert read_block({"block": " 2026-11-14 "}) == (("block", "2026-11-14"),)
    kinds = (("day", "2026-11-14"), ("plate", "3"))
    assert read_block({"block": "day=2026-11-14; plate=3"}) == kinds
    assert read_block({"block": ""}) == ()


def test_a_value_is_told_with_all_that_belongs_to_it(study: ceibo.Study, caller: Caller) -> None:
    sent = tell(1, "0.5 0.7", noise="0.1", notes="stirred <b>fast</b>", block="Monday")
    assert caller.post("/do/tell", sent).data["said"].startswith("Trial 1: 0.6 ± 0.1")
    trial = study.trials[1]
    assert trial.state == "done"
    assert trial.measurements == (Measurement(0.6, 0.1, (0.5, 0.7), block="Monday"),)
    assert trial.attributes == {"notes": "stirred <b>fast</b>"}
    assert caller.post("/view/overview", {}).data["blocks"] == ["Monday"]
    assert "&lt;b&gt;fast" in caller.get("/part/trial", "of=1").body


def test_two_tells_at_once_lose_nothing_and_double_nothing(
    study: ceibo.Study, caller: Caller
) -> None:
    sent = [tell(0, "1.5"), tell(0, "2.5")] * 4
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda each: caller.post("/do/tell", each), sent))
    (kept,) = study.trials[0].measurements
    assert sorted(answer.status for answer in answers) == [200] * 4 + [409] * 4
    for each, answer in zip(sent, answers, strict=True):
        same = float(each["values"][0]["value"]) == kept.value
        assert answer.status == (200 if same else 409)
        if not same:
            assert f"has {kept} already, told by another page or worker" in answer.data["error"]
    other = sent[1] if kept.value == 1.5 else sent[0]
    for _ in range(2):
        assert caller.post("/do/tell", other | {"key": "page-1"}).status == 200
    assert sorted(each.value for each in study.trials[0].measurements) == [1.5, 2.5]


def test_a_correction_or_a_void_of_what_has_changed_is_refused(
    study: ceibo.Study, caller: Caller
) -> None:
    caller.post("/do/tell", tell(0, "1.0"))
    (stored,) = study.ledger.refresh().trials[0].measurements
    seen = {"trial": 0, "outcome": 0, "told": stored.seq, "version": stored.version}
    right = seen | {"value": "2.0", "noise": ""}
    assert caller.post("/do/correct", right).status == 200
    for path, data in (("correct", right | {"value": "3.0"}), ("void", seen | {"reason": "old"})):
        answer = caller.post(f"/do/{path}", data)
        assert answer.status == 409
        assert "corrected to 2 meanwhile" in answer.data["error"]
    (stored,) = study.ledger.refresh().trials[0].measurements
    now = seen | {"version": stored.version, "reason": "broken column"}
    assert caller.post("/do/void", now).status == 200
    again = caller.post("/do/void", now)
    assert again.status == 409
    assert "voided meanwhile" in again.data["error"]
    assert study.trials[0].state == "running"
    assert study.trials[0].voided[0].measurement.value == 2.0


def test_the_block_of_a_value_is_corrected_where_another_was_typed(
    study: ceibo.Study, caller: Caller
) -> None:
    """Kinds and names whose writing could be read in another way stay as they are."""
    odd = {"day": "1, 2", "plate": "a=b"}
    study.tell(0, 1.0, block=odd)

    def correct(**typed: str) -> str:
        (stored,) = study.ledger.refresh().trials[0].measurements
        row = {"trial": 0, "outcome": 0, "told": stored.seq, "version": stored.version}
        answer = caller.post("/do/correct", row | {"value": "2.0", "noise": ""} | typed)
        assert answer.status == 200
        assert dict(study.trials[0].measurements[0].block) == blocks.pop(0)
        return str(answer.data["said"])

    blocks = [odd, odd, {"block": "Monday"}, {"day": "3"}, {}]
    correct()
    correct(block="day=1, 2, plate=a=b")
    assert "corrected to 2, block: Monday" in correct(block="Monday")
    correct(block="day=3")
    assert "block: none" in correct(block="")


def test_a_block_alone_is_corrected_and_all_else_stays(study: ceibo.Study, caller: Caller) -> None:
    told = (
        Measurement(1.23456789, 0.123456789, count=5, block={"day": "2026-11-14"}),
        Measurement.of([0.5, 0.7000000001], block={"day": "2026-11-14"}),
    )
    for number, each in enumerate(told):
        study.tell(number, each)

    def correct(number: int, **typed: str) -> Any:
        (stored,) = study.ledger.refresh().trials[number].measurements
        row = {"trial": number, "outcome": 0, "told": stored.seq, "version": stored.version}
        noise = "0.123456789" if number == 0 else ""
        return caller.post("/do/correct", row | {"value": "", "noise": noise} | typed)

    for number, each in enumerate(told):
        for typed, block in (("day=17.11.2026", {"day": "2026-11-17"}), ("", {})):
            answer = correct(number, block=typed)
            assert answer.status == 200
            named = block.get("day", "none")
            assert f"keeps its value, block: {'day ' * bool(block)}{named}" in answer.data["said"]
            assert study.trials[number].measurements == (replace(each, block=tuple(block.items())),)
    # nothing was typed, or what cannot be without a value
    assert "type the right value, or another block" in correct(0, block="").data["error"].lower()
    for noise in ("0.2", ""):
        assert "type the value too" in correct(0, block="x", noise=noise).data["error"].lower()
    assert study.trials[0].measurements[0].block == ()
    assert "stays if left empty" in caller.get("/part/trial", "of=0").body


def test_a_long_block_stays_whole_where_the_value_is_corrected(
    study: ceibo.Study, caller: Caller
) -> None:
    long = {f"kind {k} {'k' * 90}": "n" * 100 for k in range(8)}
    study.tell(0, 1.0, block=long)
    begun = re.search(r'name="block"[^>]* value="([^"]*)"', caller.get("/part/trial", "of=0").body)
    assert begun is not None
    (stored,) = study.ledger.refresh().trials[0].measurements
    row = {"trial": 0, "outcome": 0, "told": stored.seq, "version": stored.version}
    answer = caller.post("/do/correct", row | {"value": "2", "noise": "", "block": begun[1]})
    assert answer.data["said"].endswith("is corrected to 2.")
    assert study.trials[0].measurements == (Measurement(2.0, block=long),)


def test_the_block_of_one_outcome_is_corrected_alone(tmp_path: Path) -> None:
    outcomes = {"yield": ceibo.Maximize(unit="%"), "salt": ceibo.AtMost(2.0, unit="mg")}
    storage = f"sqlite:///{tmp_path}/h.db"
    made = ceibo.Study.create({"x": ceibo.Float(0, 1)}, outcomes=outcomes, storage=storage)
    made.tell(made.ask(), {"yield": 70.0, "salt": 1.0}, block="Monday")
    stored = made.ledger.refresh().trials[0].measurements[1]
    row = {"trial": 0, "outcome": 1, "told": stored.seq, "version": stored.version}
    answer = Caller(made).post("/do/correct", row | {"value": "", "noise": "", "block": "Tuesday"})
    assert answer.status == 200
    told = {name: dict(each[0].block)["block"] for name, each in made.trials[0].outcomes.items()}
    assert told == {"yield": "Monday", "salt": "Tuesday"}


def test_trials_are_asked_for_once_per_request(study: ceibo.Study, caller: Caller) -> None:
    held = [{"column": 0, "text": "0.25"}]
    sent = {"count": 2, "fixed": held, "shared": [], "key": "page-7"}
    for _ in range(3):
        assert caller.post("/do/ask", sent).data["said"] == "2 trials to measure: 3, 4."
    assert [trial.params["x"] for trial in study.trials[3:]] == [0.25, 0.25]
    wrong = caller.post("/do/ask", sent | {"key": "", "fixed": [{"column": 0, "text": "7"}]})
    assert wrong.status == 400
    assert "0.0, 1.0" in wrong.data["error"]


def test_trials_fail_wait_and_are_withdrawn(study: ceibo.Study, caller: Caller) -> None:
    assert caller.post("/do/fail", {"trial": 0, "reason": ""}).status == 400
    assert caller.post("/do/fail", {"trial": 0, "reason": "leaked"}).status == 200
    assert caller.post("/do/fail", {"trial": 0, "reason": "again"}).status == 409
    assert caller.post("/do/release", {"trial": 1}).status == 200
    assert caller.post("/do/withdraw", {"trial": 2}).status == 200
    assert caller.post("/do/withdraw", {"trial": 9}).status == 400
    assert [trial.state for trial in study.trials] == ["failed", "queued", "withdrawn"]
    placed = caller.post("/do/enqueue", {"at": [0.123456789], "key": "page-1"})
    assert placed.status == 200
    assert study.trials[3].params == {"x": 0.123}  # as a person would dial it


def test_news_are_told_in_words(study: ceibo.Study, caller: Caller) -> None:
    seq = caller.post("/view/look", {"since": 0}).data["seq"]
    study.tell(0, 0.25)
    study.fail(1, "leaked")
    found = caller.post("/view/look", {"since": seq}).data
    assert found["seq"] == seq + 2
    assert found["news"] == ["Trial 0 was told 0.25.", "Trial 1 failed."]
    placed = caller.post("/do/enqueue", {"at": [0.5], "key": "page-1", "now": True})
    said = {"said": "Trial 3 is to be measured next.", "trials": [3, 3], "doubted": False}
    assert placed.data == said
    found = caller.post("/view/look", {"since": found["seq"]}).data
    assert found["news"] == ["Trial 3 is to be measured."]


def test_a_value_that_is_not_possible_is_recorded_and_said(tmp_path: Path) -> None:
    outcomes = {"yield": ceibo.Maximize(unit="%", low=0, high=100)}
    made = ceibo.Study.create(
        {"x": ceibo.Float(0, 1)}, outcomes=outcomes, storage=f"sqlite:///{tmp_path}/b.db"
    )
    made.ask(2)
    caller = Caller(made)
    said = [
        caller.post("/do/tell", tell(k, text)).data["said"] for k, text in enumerate(["99", "812"])
    ]
    assert said[0].endswith("is recorded.")
    assert "yield 812 % is above 100, the highest that is possible" in said[1]
    assert [each.state for each in made.trials] == ["done", "done"]


def test_a_name_alone_is_of_the_usual_kind_of_block(study: ceibo.Study, caller: Caller) -> None:
    caller.post("/do/tell", tell(0, "0.5", block="day=2026-11-16"))
    fields = caller.get("/part/next").body
    assert ">day</label>" in fields
    assert 'placeholder="such as 2026-11-16"' in fields
    caller.post("/do/tell", tell(1, "0.6", block="18.11.2026"))
    assert dict(study.trials[1].measurements[0].block) == {"day": "2026-11-18"}
    again = tell(1, "0.7", block="19.11.2026", key="page-2")
    assert caller.post("/do/tell", again).status == 200
    assert dict(study.trials[1].measurements[1].block) == {"day": "2026-11-19"}
    said = tell(1, "0.7", block="block=Friday", key="page-3")
    assert caller.post("/do/tell", said).status == 200
    assert dict(study.trials[1].measurements[2].block) == {"block": "Friday"}
    (stored,) = study.ledger.refresh().trials[0].measurements
    right: dict[str, Any] = {
        "trial": 0,
        "outcome": 0,
        "told": stored.seq,
        "version": stored.version,
    }
    right |= {"value": "2.0", "noise": "", "block": "17.11.2026"}
    assert caller.post("/do/correct", right).status == 200
    assert dict(study.trials[0].measurements[0].block) == {"day": "2026-11-17"}
    assert 'value="2026-11-17"' in caller.get("/part/trial", "of=0").body
    study.fail(2, "leaked")
    assert 'id="late-block"' in caller.get("/part/trial", "of=2").body
    assert caller.post("/do/tell", tell(2, "0.8", block="20.11.2026")).status == 200
    assert dict(study.trials[2].measurements[0].block) == {"day": "2026-11-20"}


def test_a_value_without_the_usual_block_is_remarked(study: ceibo.Study, caller: Caller) -> None:
    first = caller.post("/do/tell", tell(0, "0.5", block="day=2026-11-14"))
    assert "block" not in first.data["said"]
    done = caller.post("/do/tell", tell(2, "0.6", block="Mnday")).data
    odd = done["said"]
    assert "'Mnday' is not written as the other days, such as 2026-11-14" in odd
    assert done["doubted"] is True  # and not offered for the next
    study.ask()
    assert 'placeholder="such as Mnday"' not in caller.get("/part/next").body
    other = caller.post("/do/tell", tell(1, "0.6")).data["said"]
    assert "most measurements are in a block of a day" in other
    assert "open trial 1 in the table of all trials and choose Correct…" in other
    assert "ceibo" not in other
    (stored,) = study.ledger.refresh().trials[1].measurements
    right: dict[str, Any] = {
        "trial": 1,
        "outcome": 0,
        "told": stored.seq,
        "version": stored.version,
    }
    right |= {"value": "2.0", "noise": "", "block": "batch=3"}
    assert "most measurements are in a block" in caller.post("/do/correct", right).data["said"]


def test_a_trial_without_its_value_is_under_way(caller: Caller) -> None:
    for part in ("/part/trials", "/part/trial"):
        body = caller.get(part, "of=0").body
        assert "under way</" in body
        assert ">running<" not in body
