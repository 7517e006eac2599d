"""The sweep: resumable, the same traces on every backend, nothing lost or run twice when it is
killed.
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ceibo.errors import InputError, StorageError
from ceibo_lab import runner
from ceibo_lab.cells import Cell
from ceibo_lab.experiments import experiment
from ceibo_lab.methods import method
from ceibo_lab.records import Read, Record, Writer, read, timeless
from ceibo_lab.replicate import replicate
from ceibo_lab.runner import Options, sweep
from ceibo_lab.sweep import main
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

    monkeypatch.setattr(runner, "replicate", counted)
    sweep(small_cells(1), folder / "small.jsonl", Options("serial"))
    assert len(ran) == 2
    again = sweep(small_cells(1), folder / "other.jsonl", Options("serial"))
    assert (len(ran), again.before, again.finished) == (2, 2, 0)
    more = sweep(small_cells(2), folder / "small.jsonl", Options("serial"))
    assert (len(ran), more.before, more.finished) == (4, 2, 2)
    assert len(set(ran)) == 4


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
    command = [
        sys.executable,
        "-m",
        "ceibo_lab.sweep",
        "profit",
        "--quick",
        "--seeds",
        "2",
        "--jobs",
        "2",
    ]
    generator = random.Random(0)
    for _ in range(3):
        started = subprocess.Popen(
            [*command, "--out", str(folder)], stdout=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(generator.uniform(1.5, 3.0))
        os.kill(started.pid, signal.SIGKILL)
        started.wait()
    assert main([*command[3:], "--out", str(folder)]) == 0
    assert main([*command[3:], "--out", str(folder.parent / "whole"), "--backend", "serial"]) == 0
    killed, whole = read(folder), read(folder.parent / "whole")
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


def test_unknown_names_list_the_known_ones(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match="serial, processes, loky, dask, ray"):
        sweep([], folder / "small.jsonl", Options("abacus"))
    with pytest.raises(InputError, match="scenario, profit, benchmark-10"):
        experiment("benchmark-11")
    with pytest.raises(InputError, match="corrected-ei, "):
        method("clairvoyance")
    with pytest.raises(InputError, match="heteroscedastic-plain"):
        experiment("benchmark-10").cells(only=("sideways",))
    assert main(["benchmark-11", "--out", str(folder)]) == 2
    assert "noise-levels" in capsys.readouterr().err


def test_the_list_names_every_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert "--block reference-code-shifted" in capsys.readouterr().out
