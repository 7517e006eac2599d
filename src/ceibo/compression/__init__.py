"""Smaller layers for a trained network, their ranks chosen under a noisy error. Needs PyTorch."""

try:
    import torch as _torch  # noqa: F401 - says what is missing before the modules below need it
except ImportError as error:
    raise ImportError(
        "ceibo.compression needs PyTorch 2.4 or newer: pip install 'path/to/the/clone[compression]'"
    ) from error

from ceibo.compression.compress import Compressed, TradeOff, compress
from ceibo.compression.compressible import Compressible
from ceibo.compression.lowrank import Factorization, factorizable, factorize, replace_layers

__all__ = [
    "Compressed",
    "Compressible",
    "Factorization",
    "TradeOff",
    "compress",
    "factorizable",
    "factorize",
    "replace_layers",
]
