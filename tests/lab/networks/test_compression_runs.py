"""Replications and sweeps of the compression experiments: repeatable, resumable, failures kept."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner, Result

from ceibo.errors import InputError
from ceibo_lab.cli import app
from ceibo_lab.kinds.compression import compression, search
from ceibo_lab.methods import PAPER_SEVEN
from ceibo_lab.plans import experiment
from ceibo_lab.plans.compression import INITIAL, NOISES, TITLES
from ceibo_lab.plans.plan import Selection
from ceibo_lab.problems.networks import objective as objectives
from ceibo_lab.problems.networks.architectures import FC3
from ceibo_lab.problems.networks.objective import Objective
from ceibo_lab.problems.networks.pictures import Pictures
from ceibo_lab.problems.networks.tasks import TASKS, Task, random_design
from ceibo_lab.problems.networks.train import Course, train
from ceibo_lab.problems.networks.weights import save_weights
from ceibo_lab.record import Cell, Record
from ceibo_lab.records import read
from ceibo_lab.run import Watch
from tests.lab.networks.picture_files import idx
from tests.network_fixtures import compression_cell


def replicate(task: Task, cell: Cell) -> Record:
    return search(task, cell, Watch())


def test_a_replication_keeps_all_that_is_reported(task: Task) -> None:
    record = replicate(task, compression_cell("small", "corrected-ei", 1, 65))
    trace, final = record["trace"], record["final"]
    assert len(trace["y"]) == len(trace["u"]) == 65
    assert trace["best_observed"] == np.minimum.accumulate(trace["y"]).tolist()
    assert trace["checks"]["evaluations"] == [30, 60, 65]
    assert trace["checks"]["best"][-1] == pytest.approx(final["best"]["objective"], abs=1e-6)
    assert trace["checks"]["recommended"][-1] == pytest.approx(
        final["recommended"]["objective"], abs=1e-6
    )
    assert trace["best"][-1] is not None
    objective = Objective(task, 1)
    np.testing.assert_allclose(
        np.array(trace["u"][:INITIAL]), random_design(task, 1, INITIAL), atol=1e-5
    )
    for t in (0, 64):
        sample = objective.sample(np.array(trace["u"][t]), t)
        assert (sample.n, sample.wrong) == (trace["n"][t], trace["wrong"][t])
    for answer in final.values():
        ranks = dict(zip(task.compressible.factors, answer["ranks"], strict=True))
        assert answer["error"] == task.evaluator.whole(ranks)
        assert answer["size_ratio"] == task.compressible.size_ratio(ranks)
        assert answer["network_ratio"] == task.compressible.network_ratio(ranks)
        assert answer["reference_ratio"] > answer["size_ratio"]
    assert record["uncompressed"]["error"] == task.evaluator.uncompressed
    json.dumps(record, allow_nan=False)


def test_a_replication_is_a_function_of_its_cell(task: Task) -> None:
    cell = compression_cell("small", "ei", 2, 36)
    first, again = replicate(task, cell), replicate(task, cell)
    assert {name: first[name] for name in first if name != "times"} == {
        name: again[name] for name in again if name != "times"
    }
    random = replicate(task, compression_cell("small", "random", 2, 36))
    assert random["trace"]["y"][:INITIAL] == first["trace"]["y"][:INITIAL]
    assert random["trace"]["n"] == first["trace"]["n"]
    assert random["digest"] != first["digest"]
    assert random["trace"]["best"][1] is None  # no model in between


def test_all_noise_protocols_run(task: Task) -> None:
    digests = {
        replicate(task, compression_cell("small", "ei", 0, 33, noise))["digest"]
        for noise in ("pooled", "smoothed")
    }
    assert (
        len(
            digests
            | {replicate(task, compression_cell("small", "ei", 0, 33, "reference"))["digest"]}
        )
        == 3
    )


@pytest.fixture
def folder(tmp_path: Path, mnist: Pictures) -> Path:
    """What the fc3 task looks for: real pictures, and the paper's network after a moment of
    training.
    """
    data = tmp_path / "data"
    data.mkdir()
    (data / "t10k-images-idx3-ubyte").write_bytes(idx(mnist.pixels[:300]))
    (data / "t10k-labels-idx1-ubyte").write_bytes(idx(mnist.labels[:300].astype(np.uint8)))
    torch.manual_seed(0)
    network = FC3()
    pixels = torch.from_numpy(mnist.pixels[300:1300].reshape(1000, 784).copy()).float() / 255
    train(network, pixels, torch.from_numpy(mnist.labels[300:1300]), Course(epochs=1))
    save_weights(network, data / "fc3.safetensors", {})
    return data


def run(*options: str) -> Result:
    """`ceibo paper run` of six steps of fc3, in this process."""
    small = ["run", "compression-fc3", "--quick", "--block", "fc3", "--backend", "serial"]
    return CliRunner().invoke(app, [*small, *options])


def test_a_sweep_resumes_and_runs_no_cell_twice(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CEIBO_COMPRESSION_DATA", "")  # the command sets it; put back afterwards
    monkeypatch.setenv("CEIBO_COMPRESSION_DEVICE", "cpu")
    common = ["--data", str(folder), "--out", str(tmp_path / "out")]
    assert run(*common, "--method", "random").exit_code == 0
    again = run(*common, "--method", "random", "--method", "ei")
    assert again.exit_code == 0
    assert "1 cells finished in" in again.output
    assert "1 were there before" in again.output
    late = run(*common, "--method", "random", "--method", "ei", "--seeds", "2", "--time-limit", "0")
    assert late.exit_code == 0
    found = read(tmp_path / "out/records")
    assert [record["cell"]["method"] for record in found.done] == ["random", "ei"]
    assert found.done[0]["task"]["weights"] == found.done[1]["task"]["weights"]
    assert found.done[0]["uncompressed"]["layer_weights"] == 1_794_000


def test_failures_are_recorded_and_not_run_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CEIBO_COMPRESSION_DATA", "")
    (folder / "t10k-labels-idx1-ubyte").write_bytes(b"no labels")
    command = ["--data", str(folder), "--out", str(tmp_path / "out"), "--method", "ei"]
    first = run(*command)
    assert first.exit_code == 0
    assert "1 failed (their records say why)" in first.output
    (failed,) = read(tmp_path / "out/records").failed
    assert "expected an IDX file" in failed["error"]
    second = run(*command)
    assert second.exit_code == 0
    assert "1 were there before" in second.output


def test_missing_data_stop_a_sweep_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CEIBO_COMPRESSION_DATA", "")
    found = run("--data", str(tmp_path), "--out", str(tmp_path / "out"))
    assert found.exit_code == 2
    assert "MNIST's test pictures not found: expected mnist/t10k-images*" in found.output
    assert read(tmp_path / "out/records").records == []


def test_a_logarithmic_scale_has_the_same_ends_and_its_middle_at_the_geometric_mean(
    task: Task,
) -> None:
    choices = tuple(replace(choice, log=True) for choice in task.choices)
    scaled = replace(task, choices=choices)
    low, high = (np.array([getattr(choice, end) for choice in choices]) for end in ("low", "high"))
    for u, theta in (
        (np.zeros(3), low),
        (np.ones(3), high),
        (np.full(3, 0.5), np.sqrt(low * high)),
    ):
        np.testing.assert_allclose(scaled.theta(u), theta)
    np.testing.assert_array_equal(task.theta(np.full(3, 0.3)), low + (high - low) * 0.3)


@pytest.mark.parametrize("name", ["compression-fc3", "compression-vgg16", "compression-resnet50"])
def test_the_experiments_are_the_papers(name: str) -> None:
    each = experiment(name)
    cells = each.cells()
    methods, task = (*PAPER_SEVEN, "random"), name.removeprefix("compression-")
    assert set(cells) == {
        compression_cell(task, method, seed) for method in methods for seed in range(10)
    }
    assert not each.in_all  # they need data that nobody has at once


@pytest.mark.needs("mlxtend")
def test_the_paper_runner_has_a_quick_version_without_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CEIBO_COMPRESSION_DATA", raising=False)
    shell = CliRunner()
    out = ["--out", str(tmp_path)]
    result = shell.invoke(app, ["run", "compression-fc3", "--quick", "--backend", "serial", *out])
    assert result.exit_code == 0, result.output
    found = read(tmp_path / "records")
    assert len(found.done) == len(found.records) == 3
    assert {record["cell"]["problem"] for record in found.done} == {"fc3-small"}
    assert found.done[0]["run"].keys() == {
        "seconds",
        "suggest",
        "suggest_cpu",
        "evaluate",
        "evaluate_cpu",
    }
    result = shell.invoke(app, ["report", "--no-fill", *out])
    assert result.exit_code == 0, result.output
    page = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "### A small network on few pictures of MNIST" in page
    (row,) = (line for line in page.splitlines() if line.startswith("| corrected EI | 1 |"))
    record = next(r for r in found.done if r["cell"]["method"] == "corrected-ei")
    for answer in ("recommended", "best", "best_observed"):
        assert f"{record['final'][answer]['objective']:.4f}" in row


def test_the_paper_runner_says_which_data_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CEIBO_COMPRESSION_DATA", "")
    result = CliRunner().invoke(app, ["run", "compression-vgg16", "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert "Tiny ImageNet" in result.output
    assert "--data" in result.output
    result = CliRunner().invoke(
        app, ["run", "compression-resnet50", "--data", str(tmp_path), "--out", str(tmp_path)]
    )
    assert result.exit_code == 2
    assert "ImageNet validation pictures not found" in result.output


def test_other_methods_noise_seeds_and_tasks_than_the_planned_ones_are_a_matter_of_options() -> (
    None
):
    fc3 = experiment("compression-fc3")
    wanted = Selection(methods=("corrected-ei/map",), noises=("smoothed",), seed=(3, 5))
    assert wanted.cells(fc3) == [
        compression_cell("fc3", "corrected-ei/map", seed, noise="smoothed") for seed in (3, 5)
    ]
    log = Selection(methods=("ei", "random"), problems=("fc3-log",), seeds=2).cells(fc3)
    assert [cell.seed for cell in log] == [0, 0, 1, 1]
    assert {cell.problem for cell in log} == {"fc3-log"}


def test_the_plan_knows_every_task_and_noise() -> None:
    """They are written down there once more, so that no torch is needed to list them."""
    assert list(TITLES) == list(TASKS)
    assert list(NOISES) == list(objectives.NOISES)


def test_requests_that_make_no_sense_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for option, name, said in (
        ("--method", "gradient", "method must be one of"),
        ("--noise", "loud", "noise must be one of pooled, smoothed, reference"),
        ("--problem", "fc4", "problem must be one of fc3, vgg16"),
    ):
        found = run(option, name, "--data", str(tmp_path), "--out", str(tmp_path / "out"))
        assert found.exit_code == 2
        assert said in found.output
    assert read(tmp_path / "out/records").records == []
    monkeypatch.delenv("CEIBO_COMPRESSION_DATA", raising=False)
    with pytest.raises(InputError, match="in CEIBO_COMPRESSION_DATA"):
        compression(compression_cell("fc3", "ei", 0), Watch())


def test_a_machine_without_torch_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ceibo_lab.kinds.compression", None)
    found = run("--out", str(tmp_path / "out"))
    assert found.exit_code == 2
    assert "compressing networks needs" in found.output
    assert "pip install 'path/to/the/clone/lab[compression]'" in found.output
