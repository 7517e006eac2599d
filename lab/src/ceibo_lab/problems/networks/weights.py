"""Weights of networks, from a torchvision checkpoint or a safetensors file.

They are checked by name and shape when read, and written with their hash, so that a result can say
which network it is about.
"""

import hashlib
import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from ceibo.errors import InputError

# where training scripts keep the weights
_NESTED: Final = ("state_dict", "model", "model_state_dict")
# of batch normalisations: not used when a network is only evaluated
_COUNTERS: Final = ".num_batches_tracked"


def read_weights(path: Path) -> dict[str, Tensor]:
    """Name -> tensor, from a safetensors file or a checkpoint, without executing anything."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such file of weights.")
    if path.suffix == ".safetensors":
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            return dict(load_file(path))
        except SafetensorError as error:
            raise InputError(f"{path}: cannot be read as a safetensors file: {error}") from error
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        raise InputError(
            f"{path}: cannot be read as a checkpoint of plain tensors: {error}"
        ) from error
    for name in _NESTED:
        if isinstance(found, Mapping) and isinstance(found.get(name), Mapping):
            found = found[name]
    if not isinstance(found, Mapping) or not all(
        isinstance(value, Tensor) for value in found.values()
    ):
        raise InputError(
            f"{path}: expected a mapping of parameter names to tensors, got {type(found).__name__}."
        )
    return {str(name).removeprefix("module."): value for name, value in found.items()}


def load_weights(network: nn.Module, path: Path, optional: tuple[str, ...] = ()) -> None:
    """Puts the weights of a file into a network.

    Args:
        network: changed in place.
        path: a safetensors file or a checkpoint.
        optional: beginnings of names that the file or the network may lack, such as a head trained
            elsewhere.
    """
    found, expected = read_weights(path), network.state_dict()

    def required(names: set[str]) -> list[str]:
        return sorted(
            name
            for name in names
            if not name.endswith(_COUNTERS) and not name.startswith(optional or "\0")
        )

    if missing := required(expected.keys() - found.keys()):
        raise InputError(
            f"{path}: {missing[0]} is missing{_and_more(missing)}; expected the weights of"
            f" {type(network).__name__} under torchvision's names, found"
            f" {', '.join(sorted(found)[:3])}, …."
        )
    if unknown := required(found.keys() - expected.keys()):
        raise InputError(
            f"{path}: {unknown[0]}{_and_more(unknown)} is no parameter of {type(network).__name__}."
        )
    usable = {name: value for name, value in found.items() if name in expected}
    for name, value in usable.items():
        if value.shape != expected[name].shape:
            raise InputError(
                f"{path}: {name} has the shape {tuple(value.shape)}, expected"
                f" {tuple(expected[name].shape)}."
            )
        if not torch.isfinite(value).all():
            raise InputError(f"{path}: {name} has values that are not finite.")
    network.load_state_dict(usable, strict=False)


def _and_more(names: list[str]) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""


def save_weights(network: nn.Module, path: Path, about: Mapping[str, Any], only: str = "") -> str:
    """Writes (a part of) a network's weights, and beside them what is known; returns the hash."""
    from safetensors.torch import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    tensors = {
        name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()
    }
    save_file({name: value for name, value in tensors.items() if name.startswith(only)}, path)
    digest = sha256(path)
    described = {"sha256": digest, **about}
    about_path(path).write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")
    return digest


def about_path(path: Path) -> Path:
    """Where what is known of a file of weights is kept."""
    return path.with_suffix(".json")


def check_hash(path: Path) -> str:
    """The hash of a file; an error if it is not the one written beside it."""
    digest = sha256(path)
    if about_path(path).is_file():
        noted = json.loads(about_path(path).read_text(encoding="utf-8")).get("sha256")
        if noted != digest:
            raise InputError(
                f"{path}: its hash is {digest[:16]}…, but {about_path(path).name} says"
                f" {str(noted)[:16]}…; the file has changed: train it again, or put back the one"
                " that belongs."
            )
    return digest


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def metadata(path: Path) -> dict[str, str]:
    """What a safetensors file says of itself; nothing for other files."""
    if path.suffix != ".safetensors":
        return {}
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        return dict(file.metadata() or {})
