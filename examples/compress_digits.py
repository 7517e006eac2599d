"""Trains a small network on scikit-learn's digits, then compresses it under a noisy error.

Each candidate is judged on a few pictures drawn afresh, so its error is noisy; the search is told
how noisy. At the end the network it recommends is measured on all held-back pictures, beside the
original.

Run it with `python examples/compress_digits.py`. Needs torch and scikit-learn; about a minute on a
CPU.
"""

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

import ceibo
from ceibo.compression import compress

SEED, EPOCHS, SAMPLE, TRIALS = 0, 15, 60, 60


def network() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64 * 16, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )


def train(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(y)).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()


def wrong(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> int:
    with torch.inference_mode():
        return int((model(x).argmax(dim=1) != y).sum())


def main() -> None:
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    digits = load_digits()
    x = torch.from_numpy(digits.images).float().unsqueeze(1) / 16
    y = torch.from_numpy(digits.target).long()
    order = torch.randperm(len(y))
    learn, check = order[:1000], order[1000:]
    model = network()
    train(model, x[learn], y[learn])
    model.eval()

    rng = np.random.default_rng(SEED)

    def evaluate(smaller: nn.Module) -> ceibo.Measurement:
        rows = check[torch.from_numpy(rng.choice(len(check), SAMPLE, replace=False))]
        k = wrong(smaller, x[rows], y[rows])
        p = (k + 1) / (SAMPLE + 2)  # never certain, even if no picture is wrong
        return ceibo.Measurement(k / SAMPLE, noise=float(np.sqrt(p * (1 - p) / SAMPLE)))

    layers = {"0": "flattened", "2": "separable", "6": "svd"}
    found = compress(model, evaluate, layers=layers, n_trials=TRIALS, seed=SEED)
    print(found.report)
    for name, each in (("original", model), ("compressed", found.network)):
        size = sum(parameter.numel() for parameter in each.parameters())
        error = wrong(each, x[check], y[check]) / len(check)
        print(
            f"{name:<10} {size:>7} parameters, error {error:.4f} on all {len(check)} pictures held"
            " back"
        )


if __name__ == "__main__":
    main()
