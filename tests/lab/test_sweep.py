"""The sweep: resumable, the same traces on every backend, nothing lost or run twice when it is
killed.
"""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ceibo.decide.record import ALGORITHM
from ceibo.errors import InputError, StorageError
from ceibo_lab import sweep as sweeping
from ceibo_lab.cli import app
from ceibo_lab.kinds.require import require
from ceibo_lab.methods import method
from ceibo_lab.plans import experiment
from ceibo_lab.plans.plan import Selection
from ceibo_lab.record import Cell, Record
from ceibo_lab.records import Read, Writer, pack, read, timeless
from ceibo_lab.replicate import replicate
from ceibo_lab.sweep import Options, sweep
from tests.lab.small import small_cells


def by_key(found: Read) -> dict[str, dict[str, object]]:
    return {record["key"]: timeless(record) for record in found.records}


@pytest.mark.parametrize("backend", ["processes", "loky", "dask"])
def test_every_backend_gives_the_same_records(backend: str, folder: Path, serial: Read) -> None:
    summary = sweep(small_cells(), folder / "small.jsonl", Options(backend, jobs=2))
    assert (summary.finished, summary.left, summary.failed) == (4, 0, 0)
    assert by_key(read(folder)) == by_key(serial)


def test_what_is_finished_is_never_run_again_and_new_seeds_are(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def counted(cell: Cell, deadline: float) -> Record | None:
        ran.append(cell.key)
        return replicate(cell, deadline)

    monkeypatch.setattr(sweeping, "replicate", counted)
    sweep(small_cells(1), folder / "small.jsonl", Options("serial"))
    assert len(ran) == 2
    again = sweep(small_cells(1), folder / "other.jsonl", Options("serial"))
    assert (len(ran), again.before, again.finished) == (2, 2, 0)
    more = sweep(small_cells(2), folder / "small.jsonl", Options("serial"))
    assert (len(ran), more.before, more.finished) == (4, 2, 2)
    assert len(set(ran)) == 4


def test_records_of_an_older_arithmetic_are_renewed_when_asked_for(
    folder: Path, serial: Read
) -> None:
    cells = small_cells(1)
    old = [
        r | {"algorithm": 1, "digest": "of before"}
        for r in serial.records
        if r["cell"]["seed"] == 0
    ]
    pack([*old, *[r for r in serial.records if r["cell"]["seed"] != 0]], folder / "a.jsonl.gz")
    as_it_is = sweep(cells, folder / "small.jsonl", Options("serial"))
    assert (as_it_is.before, as_it_is.finished) == (2, 0)
    renewed = sweep(cells, folder / "small.jsonl", Options("serial", renew=True))
    assert (renewed.before, renewed.finished) == (0, 2)
    assert by_key(read(folder)) == by_key(serial)  # the new ones stand, though read later
    again = sweep(cells, folder / "small.jsonl", Options("serial", renew=True))
    assert (again.before, again.finished) == (2, 0)


def test_records_of_a_newer_arithmetic_and_failures_of_this_one_are_not_renewed(
    folder: Path, serial: Read
) -> None:
    newer, old = (record for record in serial.records if record["cell"]["seed"] == 0)
    tried = old | {"status": "failed", "error": "ZeroDivisionError: …"}
    lines = [newer | {"algorithm": ALGORITHM + 1}, old | {"algorithm": 1}, tried]
    pack(lines, folder / "a.jsonl.gz")
    settled = sweep(small_cells(1), folder / "small.jsonl", Options("serial", renew=True))
    assert (settled.before, settled.finished) == (2, 0)
    assert [record["status"] for record in read(folder).records] == ["done", "done"]


def test_a_time_limit_keeps_what_is_finished(folder: Path) -> None:
    cells = small_cells(40, steps=8)
    summary = sweep(cells, folder / "small.jsonl", Options("serial", time_limit=1.0))
    assert summary.left > 0
    assert summary.finished + summary.left == len(cells)
    assert len(read(folder).records) == summary.finished
    assert "the same command continues" in str(summary)


def test_progress_hears_of_every_record(folder: Path) -> None:
    heard: list[tuple[int, int]] = []
    sweep(
        small_cells(1, 1),
        folder / "small.jsonl",
        Options("serial"),
        lambda done, todo, _: heard.append((done, todo)),
    )
    assert heard == [(1, 2), (2, 2)]


def test_a_sweep_killed_at_random_gives_the_records_of_one_that_was_not(folder: Path) -> None:
    command = ["run", "profit", "--quick", "--seeds", "2", "--jobs", "2"]
    program = [sys.executable, "-m", "ceibo", "paper"]
    generator = random.Random(0)
    for _ in range(3):
        started = subprocess.Popen(
            [*program, *command, "--out", str(folder.parent)],
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(generator.uniform(1.5, 3.0))
        os.kill(started.pid, signal.SIGKILL)
        started.wait()
    other = ["--out", str(folder.parent / "whole"), "--backend", "serial"]
    for options in (["--out", str(folder.parent)], other):
        assert CliRunner().invoke(app, [*command, *options]).exit_code == 0
    killed, whole = read(folder), read(folder.parent / "whole/records")
    assert len(killed.records) == len(whole.records) == 4
    assert by_key(killed) == by_key(whole)
    lines = (folder / "profit.jsonl").read_bytes().splitlines()
    assert len(lines) == 4  # nothing was run twice


def test_one_writer_at_a_time(folder: Path) -> None:
    with (
        Writer(folder / "small.jsonl"),
        pytest.raises(StorageError, match="another process is writing"),
    ):
        sweep(small_cells(), folder / "small.jsonl", Options("serial"))


def test_unknown_names_list_the_known_ones(folder: Path) -> None:
    with pytest.raises(InputError, match="serial, processes, loky, dask, ray"):
        sweep([], folder / "small.jsonl", Options("abacus"))
    with pytest.raises(InputError, match="scenario, profit, benchmark-10"):
        experiment("benchmark-11")
    with pytest.raises(InputError, match="corrected-ei, "):
        method("clairvoyance")
    with pytest.raises(InputError, match="heteroscedastic-plain"):
        experiment("benchmark-10").cells(only=("sideways",))
    found = CliRunner().invoke(app, ["run", "benchmark-11", "--out", str(folder)])
    assert found.exit_code == 2
    assert "noise-levels" in found.output


def test_the_list_names_every_experiment() -> None:
    found = CliRunner().invoke(app, ["list"])
    assert found.exit_code == 0
    assert "--block reference-code-shifted" in found.output


def selected(name: str, **wanted: Any) -> list[Cell]:
    return Selection(**wanted).cells(experiment(name))


def test_planned_names_leave_the_cells_that_have_them() -> None:
    cells = selected("benchmark-10", methods=("ei/map",), problems=("levy", "powell"))
    assert {(cell.method, cell.problem) for cell in cells} == {
        ("ei/map", "levy"),
        ("ei/map", "powell"),
    }
    assert set(cells) < set(experiment("benchmark-10").cells())
    noisy = selected("benchmark-10", noises=("homoscedastic",))
    assert set(noisy) < set(experiment("benchmark-10").cells(only=("homoscedastic",)))
    assert {cell.protocol for cell in noisy} == {"homoscedastic"}
    assert selected("profit") == experiment("profit").cells()


def test_names_that_are_not_planned_take_the_place_of_those_that_are() -> None:
    planned = experiment("profit").cells(seeds=1)
    assert {cell.problem for cell in planned} == {"sphere"}
    (cell,) = selected("profit", methods=("ucb",), problems=("levy",), seed=(99,))
    assert (cell.method, cell.problem, cell.seed) == ("ucb", "levy", 99)
    assert (cell.protocol, cell.level, cell.steps) == (
        planned[0].protocol,
        planned[0].level,
        planned[0].steps,
    )
    both = selected("profit", methods=("ei", "ucb"), seeds=1)
    assert sorted(cell.method for cell in both) == ["ei", "ucb"]


def test_one_cell_by_its_method_problem_noise_and_seed(folder: Path) -> None:
    options = ["--quick", "--backend", "serial", "--out", str(folder.parent)]
    chosen = ["--method", "random", "--problem", "branin", "--noise", "noiseless", "--seed", "4"]
    done = CliRunner().invoke(app, ["run", "profit", *chosen, *options])
    assert done.exit_code == 0, done.output
    (record,) = read(folder).done
    assert record["key"] == "optimise:branin:plain:noiseless:0.0666667:random:T30:s4"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--method", "clairvoyance"], "method must be one of corrected-ei"),
        (["--problem", "banana"], "problem must be one of hartmann"),
        (["--problem", "mixed-process"], "mixed-process has no optimisers"),
        (["--noise", "loud"], "protocol must be one of heteroscedastic"),
        (["--noise", "measured"], "problem under measured noise must be one of svm"),
        (["--seed", "1", "--seeds", "2"], "give one of them"),
        (["--renew", "--against", "."], "--renew runs cells again to keep their records"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is(
    wrong: list[str], said: str, folder: Path
) -> None:
    found = CliRunner().invoke(app, ["run", "profit", *wrong, "--out", str(folder.parent)])
    assert found.exit_code == 2
    assert said in found.output
    assert read(folder).records == []


def test_a_missing_package_is_told_before_anything_is_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ceibo_lab.kinds.require._is_installed", lambda _name: False)
    options = ["--problem", "branin", "--seed", "0", "--out", str(folder.parent)]
    found = CliRunner().invoke(app, ["run", "suite-locked", "--method", "skopt", *options])
    assert found.exit_code == 2
    said = " ".join(found.output.split())
    assert "skopt needs scikit-optimize, scikit-learn: `make peers` installs it" in said
    assert read(folder).records == []


def test_draws_and_the_suite_know_their_own_names() -> None:
    draw = replace(experiment("gp-samples").cells()[0], method="random")
    with pytest.raises(InputError, match="method must be one of corrected-ei"):
        require([draw])
    with pytest.raises(InputError, match="problem must be one of gp-draw-40, gp-draw-12"):
        require([replace(draw, method="ei", problem="gp-draw-1")])
    cell = experiment("suite-locked").cells()[0]
    require([cell, replace(cell, method="winsorised")])
    with pytest.raises(InputError, match="method must be one of default"):
        require([replace(cell, method="ucb/map")])
    with pytest.raises(InputError, match="problem must be one of hartmann"):
        require([replace(cell, problem="sphere")])
