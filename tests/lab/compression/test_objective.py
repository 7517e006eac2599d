"""The noisy objective: unbiased, repeatable, and honest about its noise."""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from ceibo.errors import InputError
from ceibo_lab.compression.measure import Evaluator
from ceibo_lab.compression.networks import FC3
from ceibo_lab.compression.objective import FEWEST, MOST, Objective, Sample, told_noise
from ceibo_lab.compression.tasks import TASKS, Loaded, Task, load_task, make_task, random_design

MIDDLE = np.array([0.1, 0.15, 0.6])


def test_error_on_the_whole_set_is_the_plain_one(task: Task) -> None:
    ranks = task.ranks(MIDDLE)
    network = task.compressible.module(ranks)
    wrong = (network(task.evaluator.inputs).argmax(dim=1) != task.evaluator.labels).float().mean()
    assert task.evaluator.whole(ranks) == pytest.approx(float(wrong))
    assert task.evaluator.uncompressed < 0.2


def test_products_of_thin_layers_give_the_same_errors(task: Task) -> None:
    """What a GPU runs and what a CPU runs."""
    rows = torch.arange(0, 3000, 70)
    for u in random_design(task, 3, 5):
        ranks = task.ranks(u)
        with torch.inference_mode():
            assert task.evaluator._wrong_dense(ranks, rows, 50) == task.evaluator.wrong(ranks, rows)
            assert task.evaluator._wrong_dense(ranks, rows, 7) == task.evaluator.wrong(ranks, rows)


def test_mean_of_many_evaluations_is_the_error_on_the_whole_set(task: Task) -> None:
    objective = Objective(task, seed=1)
    values = np.array([objective.sample(MIDDLE, t).value(1.0) for t in range(2000)])
    gap = values.mean() - objective.whole(MIDDLE)
    assert abs(gap) < 3 * values.std() / np.sqrt(len(values))
    assert values.std() > 0.01


def test_evaluations_are_a_function_of_seed_and_number(task: Task) -> None:
    first, again, other = Objective(task, 5), Objective(task, 5), Objective(task, 6)
    assert [first.sample(MIDDLE, t) for t in (3, 1)] == [again.sample(MIDDLE, t) for t in (3, 1)]
    sizes = [objective.sample(MIDDLE, t).n for objective in (first, other) for t in range(200)]
    assert min(sizes) == FEWEST
    assert max(sizes) == MOST
    assert sizes[:200] != sizes[200:]


def test_gamma_weighs_the_error_and_its_noise(task: Task) -> None:
    sample = Objective(task, gamma=3.0).sample(MIDDLE, 0)
    assert sample.value(3.0) == pytest.approx(3.0 * sample.wrong / sample.n + sample.ratio)
    samples = [sample, Sample(20, 3, 0.4)]
    np.testing.assert_allclose(
        told_noise(samples, "smoothed", 3.0, 1), 3 * told_noise(samples, "smoothed", 1.0, 1)
    )


def drawn(p: float, count: int, seed: int = 0) -> list[Sample]:
    rng = np.random.default_rng(seed)
    return [
        Sample(int(n), int(rng.binomial(n, p)), 0.0) for n in rng.integers(FEWEST, MOST + 1, count)
    ]


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_smoothed_noise_agrees_with_the_spread(p: float) -> None:
    samples = drawn(p, 20_000)
    told = np.sqrt(np.mean(told_noise(samples, "smoothed", 1.0, 30) ** 2))
    assert told == pytest.approx(np.std([s.value(1.0) for s in samples]), rel=0.1)


def test_smoothed_noise_agrees_with_the_spread_of_a_real_network(task: Task) -> None:
    objective = Objective(task, seed=2)
    u = np.array([0.02, 0.05, 0.5])
    assert 0.1 < task.evaluator.whole(task.ranks(u)) < 0.9
    samples = [objective.sample(u, t) for t in range(1500)]
    told = np.sqrt(np.mean(told_noise(samples, "smoothed", 1.0, 30) ** 2))
    assert told == pytest.approx(np.std([s.value(1.0) for s in samples]), rel=0.1)


@pytest.mark.parametrize("p", [0.0, 0.001, 0.01, 0.05])
def test_smoothed_noise_of_small_errors_is_never_zero_nor_too_small_on_average(p: float) -> None:
    samples = drawn(p, 20_000)
    told = told_noise(samples, "smoothed", 1.0, 30)
    assert told.min() > 0
    assert np.mean(told**2) >= np.var([s.value(1.0) for s in samples])


def test_reference_noise_says_zero_when_nothing_is_wrong() -> None:
    samples = [Sample(20, 0, 0.1), Sample(20, 20, 0.1), Sample(25, 5, 0.1)]
    np.testing.assert_allclose(
        told_noise(samples, "reference", 1.0, 2), [0, 0, np.sqrt(0.2 * 0.8 / 25)]
    )


def test_pooled_noise_is_fixed_by_the_initial_evaluations() -> None:
    samples = drawn(0.2, 60)
    early, late = (
        told_noise(samples[:30], "pooled", 1.0, 30),
        told_noise(samples, "pooled", 1.0, 30),
    )
    np.testing.assert_array_equal(late[:30], early)
    p = np.array([(s.wrong + 1) / (s.n + 2) for s in samples[:30]])
    n = np.array([s.n for s in samples])
    np.testing.assert_allclose(late**2 * n, np.mean(p * (1 - p)))


def test_bad_settings_are_refused(task: Task, small: Loaded) -> None:
    with pytest.raises(InputError, match="gamma"):
        Objective(task, gamma=0.0)
    with pytest.raises(InputError, match="count must be one of stored, reference"):
        Objective(task, count="guess")
    with pytest.raises(InputError, match="noise must be one of pooled, smoothed, reference"):
        told_noise([Sample(20, 1, 0.1)], "none", 1.0, 1)
    few = make_task(
        "few", task.choices, replace(small, inputs=small.inputs[:40], labels=small.labels[:40])
    )
    with pytest.raises(InputError, match="at least 50 pictures"):
        Objective(few)
    with pytest.raises(InputError, match="a label per input"):
        Evaluator(task.compressible, small.inputs[:3], small.labels[:2])


# -- the paper's tasks -----------------------------------------------------------------


def full_fc3() -> Task:
    """The paper's FC3 with untrained weights: sizes and times do not depend on them."""
    torch.manual_seed(0)
    inputs, labels = torch.rand(1000, 784), torch.randint(0, 10, (1000,))
    return make_task("fc3", TASKS["fc3"].choices, Loaded(FC3().eval(), inputs, labels, {}))


def test_boxes_and_rank_maps_are_the_papers() -> None:
    boxes = {
        name: [(c.low, c.high, c.maximum) for c in plan.choices] for name, plan in TASKS.items()
    }
    assert boxes["fc3"] == [(0.01, 0.9, 500), (0.01, 0.9, 500), (0.11, 0.9, 10)]
    assert [maximum for _, _, maximum in boxes["vgg16"]] == [
        8,
        96,
        128,
        192,
        256,
        384,
        384,
        512,
        *[768] * 5,
    ]
    assert [high for _, high, _ in boxes["vgg16"]] == [0.9] * 2 + [0.7] * 5 + [0.5] * 6
    assert {low for low, _, _ in boxes["vgg16"]} == {0.2}
    assert boxes["resnet50"] == boxes["resnet50-separable"] == [(0.05, 0.95, None)] * 16
    assert {choice.method for choice in TASKS["resnet50"].choices} == {"flattened"}


def test_one_fc3_evaluation_costs_less_than_ten_milliseconds() -> None:
    """Seconds of the processor, so that other work on the machine does not count."""
    task = full_fc3()
    assert list(task.ranks(np.zeros(3)).values()) == [5, 5, 1]
    assert list(task.ranks(np.ones(3)).values()) == [450, 450, 9]
    objective = Objective(task)
    points = [*random_design(task, 0, 40), np.ones(3)]
    times = []
    for _ in range(3):
        since = time.process_time()
        for number, u in enumerate(points):
            objective.sample(u, number)
        times.append((time.process_time() - since) / len(points))
    assert min(times) < 0.010


def test_a_compressed_fc3_is_not_slower_at_half_the_size() -> None:
    task = full_fc3()
    compressible = task.compressible
    ranks = {"fc1": 220, "fc2": 250, "fc3": 5}
    assert 0.45 < compressible.size_ratio(ranks) < 0.52
    x = task.evaluator.inputs[:256]
    smaller = compressible.module(ranks).eval()
    times: dict[str, float] = {}
    with torch.inference_mode():
        for _ in range(15):
            for name, network in (("original", compressible.network), ("smaller", smaller)):
                since = time.process_time()
                network(x)
                times[name] = min(times.get(name, np.inf), time.process_time() - since)
    assert times["smaller"] < times["original"]


def test_a_rank_map_that_leaves_the_range_names_the_layer(task: Task, small: Loaded) -> None:
    wide = make_task("wide", (replace(task.choices[0], low=0.0), *task.choices[1:]), small)
    with pytest.raises(InputError, match="layer 'fc1': the rank must be a whole number"):
        wide.ranks(np.zeros(3))


def test_missing_data_name_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="task must be one of fc3, vgg16, resnet50"):
        load_task("fc4", [tmp_path])
    with pytest.raises(InputError, match="nowhere: expected a folder"):
        load_task("fc3", [tmp_path / "nowhere"])
    for name, what in (
        ("fc3", "MNIST's test pictures"),
        ("vgg16", "Tiny ImageNet"),
        ("resnet50", "ImageNet val"),
    ):
        with pytest.raises(InputError, match=f"{what}.* not found: expected .* in {tmp_path}"):
            load_task(name, [tmp_path])
