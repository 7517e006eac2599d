"""Blocks and counted standard errors: what a user may give, and what the evidence keeps of it."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceibo.decide import (
    Evidence,
    Maximize,
    Measurement,
    Minimize,
    Outcomes,
    Told,
    Unmeasured,
    evidence_of,
)
from ceibo.decide.block_names import block_line, block_of
from ceibo.decide.joint import joint_evidence_of
from ceibo.errors import InputError

words = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8)
kinds = st.sampled_from(["day", "plate", "batch"])
blocks = st.dictionaries(kinds, st.sampled_from(["a", "b", "c"]), max_size=3)


@given(words, words.filter(lambda kind: "=" not in kind))
def test_a_block_survives_json(name: str, kind: str) -> None:
    for block in (name, {kind: name}, {kind: name, f"{kind}x": name}):
        for measurement in (
            Measurement(0.5, block=block),
            Measurement.of([0.5, 0.7], block=block),
            Measurement(0.5, 0.1, count=4, block=block),
        ):
            text = json.dumps(measurement.to_json())
            assert Measurement.from_json(json.loads(text)) == measurement
            assert replace(measurement) == measurement
            assert hash(replace(measurement)) == hash(measurement)
    assert Measurement(0.5, block=name).block == (("block", name),)


def test_days_numbers_and_pairs_are_names() -> None:
    assert block_of(date(2026, 11, 14)) == (("block", "2026-11-14"),)
    assert block_of({"plate": np.int64(3), "day": " 2026-11-14 "}) == (
        ("day", "2026-11-14"),
        ("plate", "3"),
    )
    assert block_of((("plate", "3"), ("day", "x"))) == (("day", "x"), ("plate", "3"))
    assert block_of(None) == block_of({}) == block_of(()) == ()
    assert block_line(block_of({"block": "a", "plate": 3})) == "a, plate 3"


def test_without_a_block_nothing_is_written() -> None:
    plain = Measurement(0.5, 0.1)
    assert plain.to_json() == {"value": 0.5, "noise": 0.1}
    assert repr(plain) == "Measurement(value=0.5, noise=0.1, replicates=())"
    counted = Measurement(0.5, 0.1, count=4, block={"day": "a"})
    assert repr(counted).endswith("replicates=(), count=4, block={'day': 'a'})")
    assert str(counted) == "0.5 ± 0.1 (of 4) [day a]"
    assert counted != plain
    assert replace(counted, count=None, block=()) == plain


@pytest.mark.parametrize(
    ("block", "sentence"),
    [
        ("", "a name of 1 to 100 printable characters, got ''; leave block out"),
        ("a\nb", "printable characters, got 'a\\\\nb'"),
        ("x" * 101, "1 to 100 printable"),
        (datetime(2026, 11, 14, tzinfo=UTC), "got the time .*; give its date"),
        ({"": "a"}, "expected a kind such as 'day'"),
        ({"a=b": "a"}, "without '='"),
        ({3: "a"}, "expected a kind such as 'day' or 'plate'.*, got 3"),
        ({"day": "a", " day": "b"}, "expected each kind once"),
        ({f"kind {i}": "a" for i in range(9)}, "at most 8 kinds of block, got 9"),
        ({"day": None}, "names by kind, as in .*, got {'day': None}"),
        (True, "names by kind"),
        (1.5, "names by kind"),
        (["a"], "names by kind"),
        ((("a", "b", "c"),), "names by kind"),
        (10**200, "names by kind"),
    ],
)
def test_what_is_no_block_is_refused(block: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^block: .*{sentence}"):
        Measurement(0.5, block=block)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"noise": 0.1, "count": 1}, "count must be a whole number from 2 to .*, got 1; a single"),
        ({"noise": 0.1, "count": 2.5}, "got 2.5"),
        ({"noise": 0.1, "count": True}, "got True"),
        ({"count": 4}, "standard error of 4 values beside it, .*, got none; tell the values"),
        ({"replicates": [0.5], "count": 4}, "none beside replicates, which are counted, got 4"),
    ],
)
def test_what_is_no_count_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Measurement(0.5, **options)


def told(given: list[dict[str, str]]) -> list[Told]:
    """A measurement in each of the blocks; every other one has two replicates."""
    values = [Measurement(float(i), 0.1, count=i + 2, block=b) for i, b in enumerate(given)]
    values[1::2] = [Measurement.of([1, 2], block=dict(each.block)) for each in values[1::2]]
    return [Told(i, np.array([i / 9]), each) for i, each in enumerate(values)]


def names(evidence: Evidence) -> list[dict[str, str]]:
    """The blocks of the rows, read back from the indices."""
    found = []
    for row in evidence.block:
        labels = zip(evidence.block_kinds, evidence.block_labels, row, strict=True)
        found.append({kind: names[place] for kind, names, place in labels if place >= 0})
    return found


@given(st.lists(blocks, max_size=8), st.integers(0, 8))
def test_evidence_keeps_blocks_whatever_way_it_was_built(
    given: list[dict[str, str]], cut: int
) -> None:
    whole = told(given)
    evidence = evidence_of(whole, 1)
    assert names(evidence) == [dict(whole[group].measurement.block) for group in evidence.group]
    assert list(evidence.counts) == [
        whole[group].measurement.count or 1 for group in evidence.group
    ]
    start = evidence_of(whole[:cut], 1)
    extended = start.extended(whole[cut:], Unmeasured(), len(whole))
    for one, other in ((extended, evidence), (evidence.first(cut), start)):
        assert one.key() == other.key()
        assert one.block.shape == other.block.shape == (len(one), len(one.block_kinds))
        assert (one.block_kinds, one.block_labels) == (other.block_kinds, other.block_labels)


def test_a_kind_told_later_leaves_earlier_rows_without() -> None:
    start = evidence_of(told([{"day": "mon"}]), 1)
    further = [Told(1, np.array([0.5]), Measurement(1, block={"plate": "3", "day": "tue"}))]
    evidence = start.extended(further, Unmeasured(), 2)
    assert evidence.block.tolist() == [[0, -1], [1, 0]]
    assert evidence.block_kinds == ("day", "plate")
    assert evidence.block_labels == (("mon", "tue"), ("3",))
    assert evidence_of([], 1).block.shape == (0, 0)
    renamed = evidence_of(told([{"day": "sun"}]), 1)
    assert renamed.key() != start.key()


def test_each_outcome_has_its_own_blocks() -> None:
    outcomes = Outcomes({"yield": Maximize(), "cost": Minimize()})
    x = np.array([0.5])
    both = {
        "yield": [Told(0, x, Measurement(1, block="a")), Told(1, x, Measurement(1, block="b"))],
        "cost": [Told(1, x, Measurement(1, block="b")), Told(0, x, Measurement(1))],
    }
    evidence = joint_evidence_of(outcomes, 1, both)
    assert evidence.each["yield"].block_labels == (("a", "b"),)
    assert evidence.each["cost"].block.tolist() == [[0], [-1]]
    assert evidence.first(1).each["cost"].block.shape == (1, 0)
