"""The small version of soak.fuzz, and that its judges see what they forbid."""

import time

import pytest

import ceibo
from ceibo.errors import NoMeasurementError
from soak import fuzz
from soak.fuzz_several import answer
from soak.fuzz_studies import WrongError, check_page

CASES = {
    "file": 60,
    "sheet": 100,
    "output": 200,
    "line": 15,
    "engine": 8,
    "report": 5,
    "several": 4,
}


@pytest.mark.parametrize("kind", CASES)
def test_random_cases(kind: str) -> None:
    figures = fuzz.fuzz(kind, CASES[kind])
    assert figures.faults == ()
    assert sum(figures.counts.values()) == CASES[kind]
    assert figures.counts["ok"] > 0
    assert figures.counts["refused"] > 0 or kind in ("engine", "report", "several")


def test_the_battery_has_a_hundred_thousand_cases() -> None:
    assert sum(kind.cases for kind in fuzz.KINDS.values()) == 100_000


def test_faults_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def case(number: int) -> str:
        if number == 1:
            raise WrongError("out of the box")
        if number == 2:
            return str(1 / 0)
        if number == 3:
            time.sleep(60)
        return "ok"

    monkeypatch.setattr(fuzz, "CLOCK_SECONDS", 0.2)
    monkeypatch.setitem(fuzz.KINDS, "engine", fuzz.Kind(case, 5))
    figures = fuzz.fuzz("engine", 5)
    assert figures.counts == {"ok": 2, "wrong": 1, "unexpected": 1, "hang": 1}
    assert [number for number, _ in figures.faults] == [1, 2, 3]
    assert not figures.passed


def test_an_answer_that_is_due_may_not_be_refused() -> None:
    outcomes = {"yield": ceibo.Maximize(), "salt": ceibo.AtMost(2.0)}
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, outcomes=outcomes, seed=0)

    def refused() -> float:
        raise ceibo.InputError("no answer.")

    assert answer(study, lambda: study.best, is_due=True) is None  # nothing is measured
    study.tell(study.ask(), {"yield": 1.0})
    assert answer(study, lambda: study.best, is_due=True) is None  # nor all of it
    study.tell(study.ask(), {"yield": 1.0, "salt": 1.0})
    assert answer(study, lambda: study.best, is_due=True) == study.best
    assert answer(study, lambda: study.front, is_due=False) is None
    assert answer(study, refused, is_due=False) is None
    with pytest.raises(WrongError, match="refused, though it is due: no answer"):
        answer(study, refused, is_due=True)
    with pytest.raises(WrongError, match="of another number of goals"):
        answer(study, lambda: study.best, is_due=False)

    def none() -> float:
        raise NoMeasurementError("no measurement.")

    with pytest.raises(WrongError, match="no answer, though all is measured"):
        answer(study, none, is_due=True)


_PAGE = (
    "<html><head><meta><meta><meta><meta><style></style></head><body><main>{}</main>"
    "<script></script></body></html>"
)


def test_a_page_that_is_right() -> None:
    check_page(_PAGE.format('<svg><line x1="1.5" y1="-2"/><path d="M1 2L3 4"/></svg>'))


@pytest.mark.parametrize(
    "body",
    [
        '<circle cx="nan"></circle>',
        '<polyline points="1,2 inf,3"/>',
        "<b>never closed",
        "</p>",
        "<script></script>",
        '<img src="x">',
        '<p onclick="f()">x</p>',
    ],
)
def test_pages_that_are_wrong(body: str) -> None:
    with pytest.raises(WrongError):
        check_page(_PAGE.format(body))
