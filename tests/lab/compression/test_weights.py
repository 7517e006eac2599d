"""Weights: both formats, torchvision's names, and errors that name file, parameter and shape."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from ceibo.errors import InputError
from ceibo_lab.compression.data import Pictures
from ceibo_lab.compression.networks import (
    FC3,
    HE_STYLE,
    VGG16,
    Bottleneck,
    ResNet50,
    ResNetStyle,
    resnet50_layers,
    vgg16_layers,
)
from ceibo_lab.compression.train import Course, error_rate, main, train, train_fc3
from ceibo_lab.compression.weights import (
    check_hash,
    load_weights,
    metadata,
    read_weights,
    save_weights,
)
from tests.lab.compression.picture_files import idx


def small_fc3(seed: int = 0) -> FC3:
    torch.manual_seed(seed)
    return FC3(pixels=6, hidden=5, classes=3)


def same(first: torch.nn.Module, second: torch.nn.Module) -> bool:
    pairs = zip(first.state_dict().values(), second.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("form", ["safetensors", "plain", "nested", "parallel"])
def test_weights_come_back_from_every_format(tmp_path: Path, form: str) -> None:
    network, state = small_fc3(), small_fc3().state_dict()
    if form == "safetensors":
        path = tmp_path / "w.safetensors"
        save_weights(network, path, {})
    else:
        path = tmp_path / "w.pth"
        wrapped = {"plain": state, "nested": {"epoch": 3, "state_dict": state}}
        torch.save(
            wrapped.get(form, {f"module.{name}": value for name, value in state.items()}), path
        )
    other = small_fc3(1)
    load_weights(other, path)
    assert same(network, other)


def test_half_precision_is_widened(tmp_path: Path) -> None:
    path = tmp_path / "half.safetensors"
    save_file(
        {name: value.half() for name, value in small_fc3().state_dict().items()},
        path,
        {"stride": "first 1x1"},
    )
    network = small_fc3(1)
    load_weights(network, path)
    assert network.fc1.weight.dtype == torch.float32
    assert metadata(path) == {"stride": "first 1x1"}
    assert metadata(tmp_path / "w.pth") == {}


def test_weights_that_do_not_fit_are_named(tmp_path: Path) -> None:
    state = small_fc3().state_dict()
    cases = [
        (
            {k: v for k, v in state.items() if k != "fc2.bias"},
            "fc2.bias is missing; expected the weights of FC3",
        ),
        (state | {"fc4.weight": torch.zeros(1)}, "fc4.weight is no parameter of FC3"),
        (
            state | {"fc1.weight": torch.zeros(5, 7)},
            r"fc1.weight has the shape \(5, 7\), expected \(5, 6\)",
        ),
        (state | {"fc1.bias": torch.full((5,), np.nan)}, "fc1.bias has values that are not finite"),
        ([1, 2], "expected a mapping of parameter names to tensors, got list"),
    ]
    for number, (content, message) in enumerate(cases):
        path = tmp_path / f"w{number}.pth"
        torch.save(content, path)
        with pytest.raises(InputError, match=f"w{number}.pth: {message}"):
            load_weights(small_fc3(), path)


def test_files_that_are_no_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.pth: there is no such file"):
        read_weights(tmp_path / "none.pth")
    for name in ("text.pth", "text.safetensors"):
        (tmp_path / name).write_text("no weights at all, just words")
        with pytest.raises(InputError, match=f"{name}: cannot be read"):
            read_weights(tmp_path / name)


def test_a_head_may_come_from_elsewhere(tmp_path: Path) -> None:
    network = VGG16(classes=4, hidden=8)
    save_weights(network, tmp_path / "features.safetensors", {}, only="features.")
    save_weights(network, tmp_path / "head.safetensors", {}, only="classifier.")
    other = VGG16(classes=4, hidden=8)
    with pytest.raises(
        InputError, match=r"features.safetensors: classifier.0.bias is missing \(and 3 more\)"
    ):
        load_weights(other, tmp_path / "features.safetensors")
    load_weights(other, tmp_path / "features.safetensors", optional=("classifier.",))
    load_weights(other, tmp_path / "head.safetensors", optional=("features.",))
    assert same(network, other)


def test_the_hash_is_written_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    digest = save_weights(small_fc3(), path, {"data": "none"})
    assert json.loads((tmp_path / "w.json").read_text()) == {"sha256": digest, "data": "none"}
    assert check_hash(path) == digest
    save_file(small_fc3(1).state_dict(), path)
    with pytest.raises(InputError, match=r"w.safetensors: its hash is .* but w.json says"):
        check_hash(path)


def test_networks_have_torchvisions_names_and_sizes() -> None:
    with torch.device("meta"):
        resnet, he, vgg = ResNet50(), ResNet50(style=HE_STYLE), VGG16()
    assert sum(p.numel() for p in resnet.parameters()) == 25_557_032
    assert sum(p.numel() for p in vgg.features.parameters()) == 14_714_688
    names = resnet.state_dict().keys()
    assert {
        "conv1.weight",
        "bn1.running_mean",
        "layer3.5.conv2.weight",
        "layer4.0.downsample.1.bias",
        "fc.bias",
    } <= names
    assert len(resnet50_layers()) == 16
    assert all(resnet.get_submodule(name).kernel_size == (3, 3) for name in resnet50_layers())
    assert vgg16_layers()[0] == "features.0"
    assert vgg16_layers()[-1] == "features.28"
    assert [vgg.get_submodule(name).out_channels for name in vgg16_layers()[:4]] == [
        64,
        64,
        128,
        128,
    ]
    assert (
        he.get_submodule("layer2.0.conv1").stride
        == resnet.get_submodule("layer2.0.conv2").stride
        == (2, 2)
    )
    assert he.get_submodule("layer1.0.bn1").eps == 1.001e-5


def test_networks_compute_what_their_parts_say() -> None:
    torch.manual_seed(0)
    with torch.inference_mode():
        assert VGG16(classes=7, hidden=8).eval()(torch.randn(2, 3, 32, 32)).shape == (2, 7)
        block = Bottleneck(8, 4, 2, ResNetStyle()).eval()
        x = torch.randn(2, 8, 6, 6)
        inner = block.bn3(
            block.conv3(block.bn2(block.conv2(block.bn1(block.conv1(x)).relu())).relu())
        )
        assert block.downsample is not None
        torch.testing.assert_close(block(x), (inner + block.downsample(x)).relu())
        assert ResNet50(classes=9).eval()(torch.randn(1, 3, 32, 32)).shape == (1, 9)


def test_training_learns_and_is_cached_with_its_hash(tmp_path: Path, mnist: Pictures) -> None:
    for split, rows in (("train", slice(0, 1000)), ("t10k", slice(1000, 1500))):
        (tmp_path / f"{split}-images-idx3-ubyte").write_bytes(idx(mnist.pixels[rows]))
        (tmp_path / f"{split}-labels-idx1-ubyte").write_bytes(
            idx(mnist.labels[rows].astype(np.uint8))
        )
    out = tmp_path / "fc3.safetensors"
    error = train_fc3(tmp_path, out, Course(epochs=2), "cpu")
    assert error < 0.25
    about = json.loads((tmp_path / "fc3.json").read_text())
    assert about["test_error"] == error
    before = out.read_bytes()
    assert main(["fc3", "--data", str(tmp_path), "--out", str(out)]) == 0  # is there already
    assert out.read_bytes() == before


def test_training_is_deterministic_for_a_seed() -> None:
    x, y = torch.randn(60, 6, generator=torch.Generator().manual_seed(0)), torch.arange(60) % 3
    first, second = small_fc3(), small_fc3()
    for network in (first, second):
        train(network, x, y, Course(epochs=2, batch=16))
    assert same(first, second)
    assert error_rate(first, x, y, batch=7) == error_rate(first, x, y)
