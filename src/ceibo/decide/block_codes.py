"""Blocks of measurements as indices, one column per kind.

Notation: m measurements, n rows of observations, b kinds of block.
"""

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np

from ceibo.decide.block_names import Block
from ceibo.gp.inputs import Indices

NO_BLOCK = -1


@final
class BlockCodes(NamedTuple):
    """The block of each measurement by kind, as an index into the labels of that kind."""

    codes: Indices  # (m, b), −1 where a measurement is in no block of the kind
    kinds: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]

    def after(self, earlier: Indices, group: Indices) -> Indices:
        """The rows of earlier observations (n, b' ≤ b), and below them those of these groups."""
        new = self.codes.shape[1] - earlier.shape[1]
        padded = np.pad(earlier, ((0, 0), (0, new)), constant_values=NO_BLOCK)
        return np.concatenate([padded, self.codes[group]])


def block_codes(
    blocks: Sequence[Block], kinds: Sequence[str] = (), labels: Sequence[Sequence[str]] = ()
) -> BlockCodes:
    """Codes blocks, after kinds and labels known already; new ones in the order they appear."""
    known = {
        kind: {name: place for place, name in enumerate(names)}
        for kind, names in zip(kinds, labels, strict=True)
    }
    codes: list[dict[str, int]] = []
    for block in blocks:
        row = {}
        for kind, name in block:
            names = known.setdefault(kind, {})
            row[kind] = names.setdefault(name, len(names))
        codes.append(row)
    index = [[row.get(kind, NO_BLOCK) for kind in known] for row in codes]
    return BlockCodes(
        np.array(index, dtype=np.intp).reshape(len(blocks), len(known)),
        tuple(known),
        tuple(tuple(names) for names in known.values()),
    )
