"""How many pictures a smaller network gets wrong.

On a CPU the thin layers themselves are run, which is fastest there. On a GPU their product is put
into the original network instead: the same function, but shapes that never change, so that no
kernel has to be chosen anew for every rank and every number of pictures; convolutions are in TF32.
"""

from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor
from torch.func import functional_call

from ceibo.compression.compressible import Compressible, Ranks
from ceibo.errors import InputError

BATCH_SAMPLE, BATCH_WHOLE = 50, 100  # pictures at a time: of a sample, of the whole evaluation set


@final
@dataclass(frozen=True, eq=False)
class Evaluator:
    """A network and its whole evaluation set on one device: inputs (N, …), labels (N,)."""

    compressible: Compressible
    inputs: Tensor
    labels: Tensor

    def __post_init__(self) -> None:
        if len(self.inputs) != len(self.labels) or len(self.labels) == 0:
            raise InputError(
                f"expected a label per input, got {len(self.inputs)} inputs, {len(self.labels)}"
                " labels."
            )

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def on_cpu(self) -> bool:
        return self.inputs.device.type == "cpu"

    @torch.inference_mode()
    def wrong(self, ranks: Ranks, rows: Tensor) -> int:
        """How many of the pictures in these rows (n,) are classified wrongly."""
        if self.on_cpu:
            outputs = self.compressible.module(ranks, own=False)(self.inputs[rows])
            return int((outputs.argmax(dim=1) != self.labels[rows]).sum())
        return self.wrong_dense(ranks, rows, BATCH_SAMPLE)

    @torch.inference_mode()
    def whole(self, ranks: Ranks) -> float:
        """The error over the whole evaluation set, the fastest way."""
        if self.on_cpu:
            return self.whole_factored(ranks)
        return self.wrong_dense(ranks, torch.arange(len(self)), BATCH_WHOLE) / len(self)

    @torch.inference_mode()
    def whole_factored(self, ranks: Ranks) -> float:
        """The error over the whole evaluation set, of the thin layers themselves."""
        network = self.compressible.module(ranks)
        split = [torch.split(each, BATCH_WHOLE) for each in (self.inputs, self.labels)]
        parts = zip(*split, strict=True)
        return sum(int((network(x).argmax(dim=1) != y).sum()) for x, y in parts) / len(self)

    @property
    def uncompressed(self) -> float:
        """The error of the network as it came."""
        return self.whole(dict.fromkeys(self.compressible.factors))

    def wrong_dense(self, ranks: Ranks, rows: Tensor, batch: int) -> int:
        """The same as `wrong`, by the product of the thin layers, some rows at a time."""
        weights = self.compressible.dense_weights(ranks)
        total = torch.zeros((), dtype=torch.long, device=self.inputs.device)
        fast = {"enabled": True, "benchmark": False, "deterministic": True, "allow_tf32": True}
        with torch.backends.cudnn.flags(**fast):
            for part in torch.split(rows.to(self.inputs.device), batch):
                # always the same shape
                filled = torch.cat([part, part[:1].expand(batch - len(part))])
                x = self.inputs[filled]
                outputs = functional_call(self.compressible.network, weights, (x,))
                total += (outputs.argmax(dim=1) != self.labels[filled])[: len(part)].sum()
        return int(total)
