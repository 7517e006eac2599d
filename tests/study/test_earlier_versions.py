"""Studies made by earlier versions are read as they were meant, and go on."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ceibo import Estimate, Measurement, Study, Trial

DATA = Path(__file__).parents[1] / "data"
VERSIONS = sorted(folder.name for folder in DATA.iterdir() if (folder / "expected.json").exists())
EXPECTED: dict[str, dict[str, Any]] = {
    version: json.loads((DATA / version / "expected.json").read_text(encoding="utf-8"))
    for version in VERSIONS
}
STUDIES = [(version, name) for version in VERSIONS for name in EXPECTED[version]]
MEASURED = [(version, name) for version, name in STUDIES if "best" in EXPECTED[version][name]]


def copied(version: str, tmp_path: Path) -> Path:
    """A folder with the files of an earlier version, to be changed at will."""
    return Path(shutil.copytree(DATA / version, tmp_path / version))


@pytest.fixture
def study(version: str, name: str, tmp_path: Path) -> Iterator[Study]:
    database, _, title = name.partition(":")
    opened = Study.open(f"sqlite:///{copied(version, tmp_path) / database}", title)
    yield opened
    opened.close()


@pytest.fixture
def expected(version: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = EXPECTED[version][name]
    return found


def read_back(data: dict[str, Any]) -> Trial:
    """A trial from what was written down of it."""
    return Trial(
        number=data["number"],
        params=data["params"],
        state=data["state"],
        measurements=tuple(map(Measurement.from_json, data["measurements"])),
        reason=data["reason"],
        attempt=data["attempt"],
        replaced=tuple(tuple(map(Measurement.from_json, each)) for each in data["replaced"]),
    )


def assert_believed(study: Study, found: Estimate, data: dict[str, Any]) -> None:
    """The model says the same to six digits, which other processors and libraries keep.

    What is stated of it has become more careful: a mean that is no better, and a larger std.
    """
    belief = study.belief
    place = belief.space.to_unit(found.params)[None, :]
    (mean,), (variance,) = belief.model.gp.posterior(place)
    flip = belief.evidence.direction.flip
    plain = flip(belief.model.natural(float(mean))), belief.model.natural(float(np.sqrt(variance)))
    assert plain == pytest.approx((data["mean"], data["std"]), rel=1e-6, abs=1e-6)
    assert found.std > 0.9 * data["std"]
    assert abs(found.mean - data["mean"]) <= found.std


def test_there_is_an_earlier_version() -> None:
    assert VERSIONS


@pytest.mark.parametrize(("version", "name"), STUDIES)
def test_trials_read_as_they_were_recorded(study: Study, expected: dict[str, Any]) -> None:
    assert (study.direction, study.seed) == (expected["direction"], expected["seed"])
    assert list(study.trials) == [read_back(each) for each in expected["trials"]]


@pytest.mark.parametrize(("version", "name"), MEASURED)
def test_answers_are_the_same(study: Study, expected: dict[str, Any]) -> None:
    assert study.best.number == expected["best"]["number"]
    assert study.best.params == expected["best"]["params"]
    assert_believed(study, study.best, expected["best"])
    assert_believed(study, study.recommended, expected["recommended"])
    raw = study.best_observed
    observed = {"params": raw.params, "value": raw.value, "noise": raw.noise, "number": raw.number}
    assert observed == expected["best_observed"]
    noise = expected["noise"]
    assert study.noise == (None if noise is None else pytest.approx(noise, rel=1e-6))


@pytest.mark.parametrize(("version", "name"), STUDIES)
def test_suggestions_are_verified(study: Study, expected: dict[str, Any]) -> None:
    verification = study.verify()
    assert verification.ok
    assert verification.checked == expected["suggestions"]


@pytest.mark.parametrize(("version", "name"), STUDIES)
def test_ask_and_tell_go_on(study: Study, expected: dict[str, Any]) -> None:
    trials = expected["trials"]
    queued = [each["number"] for each in trials if each["state"] == "queued"]
    handed = [study.ask() for _ in range(len(queued) + 2)]
    assert [trial.number for trial in handed] == [*queued, len(trials), len(trials) + 1]
    for trial in handed:
        study.tell(trial, 1.0 + trial.number, noise=0.1)
    told = study.trials
    assert all(told[trial.number].state == "done" for trial in handed)
    assert study.best.number is not None
    following = study.ask()
    study.fail(following, "broken")
    assert study.trials[following.number].state == "failed"
    study.correct(handed[-1], 0.5, noise=0.1)
    verification = study.verify()
    assert verification.ok
    assert verification.checked == expected["suggestions"] + 3


@pytest.mark.parametrize("version", VERSIONS)
def test_the_study_file_works_in_a_shell(version: str, tmp_path: Path) -> None:
    folder, expected = copied(version, tmp_path), EXPECTED[version]["study.db:study"]

    def ceibo(*words: object) -> Any:
        environment = {key: value for key, value in os.environ.items() if key != "CEIBO_STORAGE"}
        command = [sys.executable, "-m", "ceibo", *map(str, words), "--json"]
        done = subprocess.run(
            command, cwd=folder, env=environment, text=True, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    shown = ceibo("show", "study.toml")
    kept = ("params", "state", "reason")
    assert [{key: each[key] for key in kept} for each in shown] == [
        {key: each[key] for key in kept} for each in expected["trials"]
    ]
    best = ceibo("best", "study.toml")
    assert best["best"]["trial"] == expected["best"]["number"]
    assert best["best"]["mean"] == pytest.approx(expected["best"]["mean"], abs=best["best"]["std"])
    count = len(expected["trials"])
    assert ceibo("ask", "study.toml")["trial"] == count
    told = ceibo("tell", "study.toml", count, "0.5", "0.05")
    assert told["measurements"][0]["value"] == 0.5
    assert len(ceibo("show", "study.toml")) == count + 1
