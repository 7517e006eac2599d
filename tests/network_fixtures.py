"""A small network trained on real digits, and a task around it: made once, offline."""

import pytest
import torch

from ceibo_lab.plans.compression import EVALUATIONS, INITIAL
from ceibo_lab.problems.networks.pictures import Pictures, load_few_mnist
from ceibo_lab.problems.networks.tasks import SMALL_CHOICES, Loaded, Task, blueprint, make_task
from ceibo_lab.record import Cell


def compression_cell(
    task: str, method: str, seed: int, evaluations: int = EVALUATIONS, noise: str = "pooled"
) -> Cell:
    """A search with γ = 1 and weights counted as stored."""
    steps = evaluations - INITIAL
    return Cell("compression", task, "stored", noise, 1.0, method, seed, steps)


@pytest.fixture(autouse=True, scope="session")
def _one_torch_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def mnist() -> Pictures:
    """5,000 real pictures, shuffled: 500 of each digit."""
    return load_few_mnist()


@pytest.fixture(scope="session")
def small() -> Loaded:
    """784–64–64–10, trained on 2,000 of the pictures; the other 3,000 are the evaluation set."""
    return blueprint("fc3-small").load((), "cpu")


@pytest.fixture(scope="session")
def task(small: Loaded) -> Task:
    return make_task("small", SMALL_CHOICES, small)
