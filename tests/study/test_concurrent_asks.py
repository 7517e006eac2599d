"""Processes that ask the model at the same time, on one file."""

import os
from pathlib import Path

from ceibo import Float, Study
from soak.children import Diary, fork


def test_eight_processes_ask_the_model_at_once(tmp_path: Path) -> None:
    """Eight processes, ten asks each: every number once, every suggestion as its record says."""
    url = f"sqlite:///{tmp_path / 'lab.db'}"
    Study.create({"x": Float(0, 1), "y": Float(0, 1)}, storage=url, n_initial=4).close()
    diary = Diary(tmp_path / "diary")

    def work() -> None:
        study = Study.open(url)
        for _ in range(10):
            trial = study.ask()
            value = (trial.params["x"] - 0.3) ** 2 + (trial.params["y"] - 0.6) ** 2
            study.tell(trial, value, noise=0.05)
            diary.acknowledge(trial.number, "", value, 0.0)

    for pid in [fork(work, diary) for _ in range(8)]:
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, diary.lines()
    acknowledged, errors = diary.read()
    assert errors == []
    study = Study.open(url)
    assert sorted(each.number for each in acknowledged) == list(range(80))
    for each in acknowledged:
        assert [m.value for m in study.trials[each.number].measurements] == [each.value]
    assert sum(record["source"] == "model" for record in study.suggestions.values()) >= 70
    found = study.verify()
    assert found.ok
    assert found.identical == found.checked == 80
    study.close()
