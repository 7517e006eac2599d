"""Small versions of the batteries with outcomes told one by one: kills, and many at once."""

import random
from pathlib import Path

import pytest

from soak.children import THREE
from soak.concurrency import run_crowd
from soak.kills import kill_often
from soak.outcomes import disturb


def test_random_kills_between_outcomes(url: str, tmp_path: Path) -> None:
    result = kill_often(url, tmp_path, kills=12, seed=2, outcomes=THREE)
    assert result.audit.passed, result
    assert result.intact
    assert not result.errors
    assert result.acknowledged > 0


def test_many_processes_tell_outcomes_one_by_one(url: str, tmp_path: Path) -> None:
    parts = {"processes": 8, "trials": 5}
    crowd = run_crowd(url, tmp_path, **parts, meanwhile=lambda: None, outcomes=THREE)
    assert crowd.errors == []
    assert crowd.told == 120
    assert crowd.audit.passed


@pytest.mark.parametrize("kind", ["partial"])
def test_a_killed_study_goes_on(tmp_path: Path, kind: str) -> None:
    resumed = disturb(tmp_path, kind, 1, 6, random.Random(1))
    assert resumed.identical == resumed.verified == 6
