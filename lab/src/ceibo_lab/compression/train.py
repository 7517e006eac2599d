"""Trains what no file has: FC3 on MNIST, and a small classifier on VGG-16's frozen convolutions.

    python -m ceibo_lab.compression.train fc3 --data MNIST-FOLDER --out fc3.safetensors
    python -m ceibo_lab.compression.train vgg16-head --data TINY.tar --weights VGG16 --out
    vgg16-head.safetensors

A finished file with the right hash is kept as it is.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional

from ceibo_lab.compression.data import Pictures, load_folder, load_mnist, load_tar
from ceibo_lab.compression.networks import FC3, VGG16
from ceibo_lab.compression.prepare import VGG16_INPUT, flat_grey, prepared
from ceibo_lab.compression.weights import check_hash, load_weights, save_weights


@final
@dataclass(frozen=True)
class Course:
    """How to train: Adam with a rate that falls along half a cosine, on batches in an order set by
    the seed.
    """

    epochs: int
    rate: float = 1e-3
    batch: int = 128
    decay: float = 0.0  # weight decay
    smoothing: float = 0.0  # of the labels
    seed: int = 0


def batches(count: int, course: Course) -> Iterator[Tensor]:
    """Rows of each batch, epoch after epoch."""
    order = torch.Generator().manual_seed(course.seed)
    for _ in range(course.epochs):
        yield from torch.split(torch.randperm(count, generator=order), course.batch)


def train(network: nn.Module, inputs: Tensor, labels: Tensor, course: Course) -> None:
    """Trains a network in place on inputs (n, …) and labels (n,), which are on its device."""
    steps = course.epochs * -(-len(labels) // course.batch)
    optimizer = torch.optim.AdamW(network.parameters(), lr=course.rate, weight_decay=course.decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    network.train()
    for rows in batches(len(labels), course):
        rows = rows.to(labels.device)
        loss = functional.cross_entropy(
            network(inputs[rows]), labels[rows], label_smoothing=course.smoothing
        )
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
    network.eval()


@torch.inference_mode()
def error_rate(network: nn.Module, inputs: Tensor, labels: Tensor, batch: int = 500) -> float:
    """Share of inputs (n, …) whose largest output is not at their label."""
    network.eval()
    wrong = 0
    for x, y in zip(torch.split(inputs, batch), torch.split(labels, batch), strict=True):
        wrong += int((network(x).argmax(dim=1) != y).sum())
    return wrong / len(labels)


def tensors(pictures: Pictures, inputs: Tensor, device: str) -> tuple[Tensor, Tensor]:
    return inputs.to(device), torch.from_numpy(pictures.labels).to(device)


def train_fc3(data: Path, out: Path, course: Course, device: str) -> float:
    """FC3 on the 60,000 training pictures; writes it with its hash and returns the error on the
    10,000 others.
    """
    torch.manual_seed(course.seed)
    network = FC3().to(device)
    began = time.perf_counter()
    learn, check = load_mnist(data, "train"), load_mnist(data, "test")
    train(network, *tensors(learn, flat_grey(learn), device), course)
    error = error_rate(network, *tensors(check, flat_grey(check), device))
    about = {
        "network": "FC3 784-1000-1000-10",
        "data": "MNIST",
        "test_error": error,
        **asdict(course),
    }
    save_weights(
        network,
        out,
        about | {"seconds": round(time.perf_counter() - began, 1), "torch": torch.__version__},
    )
    return error


def train_vgg16_head(data: Path, weights: Path, out: Path, course: Course, device: str) -> float:
    """The classifier of VGG16 on its frozen, pooled features; writes it and returns the error on
    the val pictures.
    """
    torch.manual_seed(course.seed)
    began = time.perf_counter()
    learn = load_split(data, "train", None)
    check = load_split(data, "val", learn.classes)
    network = VGG16(classes=len(learn.classes)).to(device).eval()
    load_weights(network, weights, optional=("classifier.",))
    seen = [pooled_features(network, pictures, device) for pictures in (learn, check)]
    marks = [torch.from_numpy(pictures.labels).to(device) for pictures in (learn, check)]
    train(network.classifier, seen[0], marks[0], course)
    error = error_rate(network.classifier, seen[1], marks[1])
    about = {
        "network": (
            f"VGG16 classifier 512-512-{len(learn.classes)} on pooled features of"
            f" {VGG16_INPUT.size} pixels"
        ),
        "train_pictures": len(learn),
        "val_pictures": len(check),
        "val_error": error,
        "train_error": error_rate(network.classifier, seen[0], marks[0]),
        **asdict(course),
        "seconds": round(time.perf_counter() - began, 1),
        "torch": torch.__version__,
    }
    save_weights(network, out, about, only="classifier.")
    return error


def load_split(data: Path, split: str, classes: Sequence[str] | None) -> Pictures:
    """The train or val pictures of a folder or a tar with <split>/<class>/<picture>."""
    return load_folder(data / split, classes) if data.is_dir() else load_tar(data, split, classes)


@torch.inference_mode()
def pooled_features(network: VGG16, pictures: Pictures, device: str, batch: int = 100) -> Tensor:
    """(n, 512) what the classifier sees of pictures."""
    parts = []
    for rows in torch.split(torch.arange(len(pictures)), batch):
        x = prepared(pictures.pixels[rows.numpy()], VGG16_INPUT, device)
        parts.append(network.pooled(x))
    return torch.cat(parts).clone()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m ceibo_lab.compression.train", description=__doc__
    )
    parser.add_argument("network", choices=["fc3", "vgg16-head"])
    parser.add_argument(
        "--data",
        type=Path,
        required=True,
        help="folder of MNIST; folder or tar with train/ and val/",
    )
    parser.add_argument("--weights", type=Path, help="VGG-16's convolutions")
    parser.add_argument("--out", type=Path, required=True, help="safetensors file to write")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = parser.parse_args(arguments)
    if given.out.is_file():
        print(f"{given.out} is there already, sha256 {check_hash(given.out)}")
        return 0
    if given.network == "fc3":
        course = Course(epochs=given.epochs or 10, seed=given.seed)
        error = train_fc3(given.data, given.out, course, given.device)
    else:
        if given.weights is None:
            parser.error("vgg16-head needs --weights, VGG-16's convolutions")
        course = Course(epochs=given.epochs or 60, decay=0.05, smoothing=0.1, seed=given.seed)
        error = train_vgg16_head(given.data, given.weights, given.out, course, given.device)
    print(f"{given.out}: error {error:.4f} on pictures held back, sha256 {check_hash(given.out)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
