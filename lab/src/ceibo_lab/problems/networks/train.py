"""Trains what no file has: FC3 on MNIST, and a small classifier on VGG-16's frozen convolutions.

`ceibo paper train` is its command.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, final

import torch
from torch import Tensor, nn
from torch.nn import functional

from ceibo.errors import InputError
from ceibo_lab.problems.networks.architectures import FC3, VGG16
from ceibo_lab.problems.networks.pictures import Pictures, load_folder, load_mnist, load_tar
from ceibo_lab.problems.networks.prepare import VGG16_INPUT, flat_grey, prepared
from ceibo_lab.problems.networks.weights import check_hash, load_weights, save_weights

NETWORKS: Final = ("fc3", "vgg16-head")


@final
@dataclass(frozen=True)
class Course:
    """How to train: Adam, its rate falling along half a cosine, batches ordered by the seed."""

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
    """Trains FC3 into a file, and returns its error on MNIST's test pictures."""
    torch.manual_seed(course.seed)
    network = FC3().to(device)
    began = time.perf_counter()
    learn, check = load_mnist(data, "train"), load_mnist(data, "test")
    train(network, *tensors(learn, flat_grey(learn), device), course)
    error = error_rate(network, *tensors(check, flat_grey(check), device))
    about = {"network": "FC3 784-1000-1000-10", "data": "MNIST", "test_error": error}
    save_weights(network, out, about | _made(course, began))
    return error


def train_vgg16_head(data: Path, weights: Path, out: Path, course: Course, device: str) -> float:
    """Trains VGG16's classifier into a file, and returns its error on the val pictures."""
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
    sizes = f"512-512-{len(learn.classes)}"
    about = {
        "network": f"VGG16 classifier {sizes} on pooled features of {VGG16_INPUT.size} pixels",
        "train_pictures": len(learn),
        "val_pictures": len(check),
        "val_error": error,
        "train_error": error_rate(network.classifier, seen[0], marks[0]),
    }
    save_weights(network, out, about | _made(course, began), only="classifier.")
    return error


def _made(course: Course, began: float) -> dict[str, Any]:
    """How and for how long something was trained."""
    seconds = round(time.perf_counter() - began, 1)
    return {**asdict(course), "seconds": seconds, "torch": torch.__version__}


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


def train_file(  # noqa: PLR0913 - keyword-only options of a command
    network: str,
    data: Path,
    out: Path,
    *,
    weights: Path | None = None,
    epochs: int | None = None,
    seed: int = 0,
    device: str | None = None,
) -> str:
    """Trains a network into a file, unless it is there already; says what there is."""
    if network not in NETWORKS:
        raise InputError(f"network must be one of {', '.join(NETWORKS)}, got {network!r}.")
    if out.is_file():
        return f"{out} is there already, sha256 {check_hash(out)}"
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    if network == "fc3":
        error = train_fc3(data, out, Course(epochs=epochs or 10, seed=seed), device)
    elif weights is None:
        raise InputError("vgg16-head needs --weights, VGG-16's convolutions.")
    else:
        course = Course(epochs=epochs or 60, decay=0.05, smoothing=0.1, seed=seed)
        error = train_vgg16_head(data, weights, out, course, device)
    return f"{out}: error {error:.4f} on pictures held back, sha256 {check_hash(out)}"
