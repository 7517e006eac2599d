"""compress(): a user's own network, smaller and still right; and the example that shows it."""

import runpy
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import ceibo
from ceibo.compression import Compressible, compress
from ceibo.compression.compress import rank_of, ranks_of
from ceibo.compression.lowrank import factorizable
from ceibo.errors import InputError
from ceibo_lab.problems.networks.tasks import Loaded

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "compress_digits.py"


def wrong_share(network: nn.Module, data: Loaded) -> float:
    with torch.inference_mode():
        return float((network(data.inputs).argmax(dim=1) != data.labels).float().mean())


def test_a_network_becomes_smaller_and_stays_right(small: Loaded) -> None:
    before = {name: value.clone() for name, value in small.network.state_dict().items()}
    rng = np.random.default_rng(0)

    def evaluate(network: nn.Module) -> ceibo.Measurement:
        rows = torch.from_numpy(rng.choice(len(small.labels), 200, replace=False))
        with torch.inference_mode():
            k = int((network(small.inputs[rows]).argmax(dim=1) != small.labels[rows]).sum())
        p = (k + 1) / 202
        return ceibo.Measurement(k / 200, noise=float(np.sqrt(p * (1 - p) / 200)))

    found = compress(small.network, evaluate, layers=["fc1", "fc2"], n_trials=25, seed=0)
    original = wrong_share(small.network, small)
    compressed = wrong_share(found.network, small)
    whole = [sum(p.numel() for p in each.parameters()) for each in (found.network, small.network)]
    assert found.network_ratio == whole[0] / whole[1]
    assert compressed + found.size_ratio < original + 1.0 - 0.3
    assert abs(compressed - found.error) < 5 * found.std + 0.03
    assert found.uncompressed == pytest.approx(original, abs=0.1)
    assert len(found.result.study.trials) == 25
    assert all(
        torch.equal(before[name], value) for name, value in small.network.state_dict().items()
    )
    shared = {p.data_ptr() for p in found.network.parameters()} & {
        p.data_ptr() for p in small.network.parameters()
    }
    assert not shared
    sizes, errors = (
        [getattr(point, name) for point in found.trade_off] for name in ("size_ratio", "error")
    )
    assert sizes == sorted(sizes)
    assert errors == sorted(errors, reverse=True)
    assert "| fc1 | svd |" in found.report
    assert f"{found.size_ratio:.1%}" in found.report


def test_plain_numbers_and_replicates_are_taken_too() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(12, 12), nn.Linear(12, 3))
    assert compress(network, lambda smaller: 0.25, layers=["0"], n_trials=8).uncompressed == 0.25
    found = compress(
        network,
        lambda smaller: ceibo.Measurement.of([0.2, 0.3]),
        gamma=2.0,
        layers=["0"],
        n_trials=8,
    )
    assert found.uncompressed == pytest.approx(0.25)
    told = found.result.study.trials[0].measurements[0]
    size = told.value - 0.5
    assert told.replicates == pytest.approx((0.4 + size, 0.6 + size))


def test_noise_told_beside_replicates_is_kept_and_weighed() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(12, 12), nn.Linear(12, 3))
    told = ceibo.Measurement(0.25, 0.05, [0.2, 0.3])
    found = compress(network, lambda smaller: told, gamma=2.0, layers=["0"], n_trials=8)
    stored = found.result.study.trials[0].measurements[0]
    assert stored.noise == pytest.approx(0.1)
    assert len(stored.replicates) == 2
    # The trade-off is believed as the study believes it: that noise is of the mean of two.
    best = found.result.best
    beliefs = {(point.error, point.std) for point in found.trade_off}
    size = found.size_ratio
    assert any(
        mean == pytest.approx((best.mean - size) / 2) and std == pytest.approx(best.std / 2)
        for mean, std in beliefs
    )


def test_a_whole_share_keeps_the_layer_and_a_small_one_has_rank_one() -> None:
    compressible = Compressible.of(nn.Sequential(nn.Linear(20, 30)), {"0": "svd"})
    factor = compressible.factors["0"]
    assert rank_of(factor, 1.0) is None
    assert rank_of(factor, 1e-9) == 1
    assert {rank_of(factor, share) for share in np.linspace(0.01, 1, 500)} == {
        None,
        *range(1, factor.break_even + 1),
    }
    assert compressible.size_ratio(ranks_of(compressible, {"0": 1.0})) == 1.0


def test_shared_weights_count_once_and_are_left_alone() -> None:
    tied = nn.Sequential(nn.Linear(20, 20), nn.ReLU(), nn.Linear(20, 20), nn.Linear(20, 20))
    tied[2].weight = tied[0].weight
    assert factorizable(tied) == ("3",)
    smaller = Compressible.of(tied, {"0": "svd"}).network_ratio({"0": 2})
    # the shared weights stay for the other layer, beside two thin ones
    assert smaller == pytest.approx((2 * 400 + 60 + 80) / (2 * 400 + 60))


def test_an_exception_in_the_last_evaluations_loses_nothing() -> None:
    calls: list[int] = []

    def evaluate(_network: nn.Module) -> float:
        calls.append(1)
        if len(calls) >= 10:
            raise ValueError("out of memory")
        return 0.1

    network = nn.Sequential(nn.Linear(12, 12), nn.Linear(12, 3))
    try:
        found = compress(network, evaluate, n_trials=10, progress=False)
        study = found.result.study
    except ValueError as error:
        study = error.study  # type: ignore[attr-defined]
    assert len([trial for trial in study.trials if trial.measurements]) == 8


def test_a_stored_search_goes_on(tmp_path: Path) -> None:
    torch.manual_seed(0)
    network, calls = nn.Sequential(nn.Linear(12, 12), nn.Linear(12, 3)), []

    def evaluate(smaller: nn.Module) -> float:
        calls.append(1)
        return 0.1

    storage = f"sqlite:///{tmp_path / 'search.db'}"
    for total in (6, 6, 9):
        found = compress(network, evaluate, layers=["0"], n_trials=total, storage=storage)
        found.result.study.close()
    assert len(calls) == 9 + 3  # and the original, each time


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layers": ["2"]}, "layer '2' .* got Conv1d"),
        ({"layers": ["9"]}, "layer '9' is not in the network"),
        ({"layers": "0"}, "layers must be a list of names"),
        ({"layers": []}, "no layer that can become smaller"),
        ({"layers": {"0": "separable"}}, "layer '0' .* expected a torch.nn.Conv2d"),
        ({"layers": ["1"]}, "layer '1': two layers of rank 1 already store"),
        ({"gamma": -1.0}, "gamma must be a finite number above zero"),
    ],
)
def test_bad_requests_name_the_layer(options: dict[str, object], message: str) -> None:
    network = nn.Sequential(nn.Linear(6, 6), nn.Linear(6, 1), nn.Conv1d(2, 2, 3))
    with pytest.raises(InputError, match=message):
        compress(network, lambda smaller: 0.0, **options)  # type: ignore[arg-type]


def test_the_example_compresses_digits(capsys: pytest.CaptureFixture[str]) -> None:
    since = time.process_time()
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert time.process_time() - since < 120
    lines = capsys.readouterr().out.splitlines()
    sizes = [int(line.split()[1]) for line in lines[-2:]]
    errors = [float(line.split("error ")[1].split()[0]) for line in lines[-2:]]
    assert sizes[1] < 0.5 * sizes[0]
    assert errors[1] < errors[0] + 0.06
