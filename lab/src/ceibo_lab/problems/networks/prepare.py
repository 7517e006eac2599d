"""From pictures as bytes to what a network expects: size, order and units of the colours."""

from dataclasses import dataclass
from typing import Final, final

import torch
from torch import Tensor
from torch.nn import functional

from ceibo.errors import InputError
from ceibo_lab.problems.networks.pictures import Bytes, Pictures


@final
@dataclass(frozen=True)
class Preparation:
    """How a convolutional network wants its pictures.

    A picture of at least `size` pixels is cropped at its centre, a smaller one is scaled up to it
    (bilinear).

    Args:
        size: side in pixels.
        mean, std: per colour, in the network's units.
        scale: from bytes to those units.
        bgr: the colours' order is blue, green, red.
    """

    size: int
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    scale: float = 1.0 / 255.0
    bgr: bool = False


_IMAGENET: Final = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
VGG16_INPUT: Final = Preparation(128, *_IMAGENET)
TORCHVISION_INPUT: Final = Preparation(224, *_IMAGENET)
HE_INPUT: Final = Preparation(224, (103.939, 116.779, 123.68), (1.0, 1.0, 1.0), scale=1.0, bgr=True)


def prepared(pixels: Bytes, wanted: Preparation, device: str = "cpu") -> Tensor:
    """Pictures (n, h, w, 3) as a network's input (n, 3, size, size) on a device, float32."""
    if pixels.ndim != 4 or pixels.shape[3] != 3:
        raise InputError(
            f"expected coloured pictures (n, height, width, 3), got the shape {pixels.shape}."
        )
    x = torch.from_numpy(pixels.copy()).to(device).permute(0, 3, 1, 2).float()
    height, width = x.shape[2:]
    if min(height, width) >= wanted.size:
        top, left = (height - wanted.size) // 2, (width - wanted.size) // 2
        x = x[:, :, top : top + wanted.size, left : left + wanted.size]
    else:
        x = functional.interpolate(
            x, size=(wanted.size, wanted.size), mode="bilinear", antialias=False
        )
    if wanted.bgr:
        x = x.flip(1)
    mean, std = (
        torch.tensor(values, device=device).view(1, 3, 1, 1) for values in (wanted.mean, wanted.std)
    )
    return ((x * wanted.scale - mean) / std).contiguous()


def flat_grey(pictures: Pictures) -> Tensor:
    """Grey pictures as rows (n, h·w) in 0..1."""
    if pictures.pixels.ndim != 3:
        raise InputError(
            f"expected grey pictures (n, height, width), got the shape {pictures.pixels.shape}."
        )
    return torch.from_numpy(pictures.pixels.reshape(len(pictures), -1).copy()).float() / 255.0
