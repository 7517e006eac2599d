"""Random histories of changes and kills; 200 of them run with `make soak`."""

from pathlib import Path

from soak.changes import run_histories


def test_histories_of_changes_and_kills(tmp_path: Path) -> None:
    figures = run_histories(tmp_path, 2, seed=1000, rounds=3)
    assert figures.faults == []
    assert figures.histories == 2
