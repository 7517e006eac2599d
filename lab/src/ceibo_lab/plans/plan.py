"""Experiments as data: which problems meet which noise and which methods, how often, how long.

An experiment is a few blocks; a block is a product of problems, variants, protocols, levels and
methods, repeated over seeds. Cells are listed seed by seed, so that a sweep that is stopped early
leaves whole comparisons behind.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import final

from ceibo.errors import InputError
from ceibo_lab.record import Cell


@final
@dataclass(frozen=True)
class Block:
    """A product of settings, each combination repeated for `seeds` seeds from `first_seed` on."""

    name: str
    problems: tuple[str, ...]
    methods: tuple[str, ...]
    protocols: tuple[str, ...] = ("heteroscedastic",)
    levels: tuple[float, ...] = (0.10,)
    variants: tuple[str, ...] = ("plain",)
    kind: str = "optimise"
    seeds: int = 15
    steps: int = 150
    in_quick: bool = True
    in_full: bool = True
    quick_seeds: int = 3
    quick_steps: int = 12
    # (protocol, level) pairs, in place of the product of both
    noises: tuple[tuple[str, float], ...] = ()
    first_seed: int = 0

    def cells(self, seeds: int | None = None, steps: int | None = None) -> Iterator[Cell]:
        """All cells, seed by seed."""
        noises = self.noises or tuple(product(self.protocols, self.levels))
        listed = list(product(self.problems, self.variants, noises, self.methods))
        count = self.seeds if seeds is None else seeds
        for seed in range(self.first_seed, self.first_seed + count):
            for problem, variant, noise, method in listed:
                length = self.steps if steps is None else steps
                yield Cell(self.kind, problem, variant, *noise, method, seed, length)


@final
@dataclass(frozen=True)
class Experiment:
    """An experiment of the paper (or beside it) by its id."""

    id: str
    title: str
    blocks: tuple[Block, ...]
    in_all: bool = True  # False: needs data or core-hours of its own, and is run only when named

    def cells(
        self, *, quick: bool = False, seeds: int | None = None, only: tuple[str, ...] = ()
    ) -> list[Cell]:
        """All cells, each once.

        Args:
            quick: a small version.
            seeds: how many of them.
            only: names of blocks; all that belong to this size by default.
        """
        known = [block.name for block in self.blocks]
        if unknown := [name for name in only if name not in known]:
            raise InputError(
                f"experiment {self.id} has the blocks {', '.join(known)}, not {unknown[0]!r}."
            )
        wanted = only or [
            block.name for block in self.blocks if (block.in_quick if quick else block.in_full)
        ]
        chosen = [block for block in self.blocks if block.name in wanted]
        if quick:
            chosen = [_quick(block) for block in chosen]
        listed = [cell for block in chosen for cell in block.cells(seeds)]
        # Seeds first over all blocks, so that what is finished early is comparable.
        return sorted(dict.fromkeys(listed), key=lambda cell: cell.seed)


def _quick(block: Block) -> Block:
    whole = block.kind in ("scenario", "cost", "draws")  # these take no time
    steps = block.steps if whole else min(block.steps, block.quick_steps)
    return replace(block, seeds=min(block.seeds, block.quick_seeds), steps=steps)


@final
@dataclass(frozen=True)
class Selection:
    """What is wanted of an experiment; nothing given means as planned.

    A method, problem or noise (protocol) that the experiment has leaves the cells with it; one that
    it does not have takes the place of those planned.

    Args:
        quick: a small version.
        seeds: how many, from the first on.
        seed: these alone.
        blocks, methods, problems, noises: names.
    """

    quick: bool = False
    seeds: int | None = None
    seed: tuple[int, ...] = ()
    blocks: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    noises: tuple[str, ...] = ()

    def cells(self, experiment: Experiment) -> list[Cell]:
        """The cells of an experiment that are wanted, seed by seed."""
        cells = experiment.cells(quick=self.quick, seeds=self.seeds, only=self.blocks)
        if self.seed:
            cells = [replace(cell, seed=seed) for seed in self.seed for cell in cells]
        for name, wanted in (
            ("method", self.methods),
            ("problem", self.problems),
            ("protocol", self.noises),
        ):
            cells = _with(cells, name, wanted)
        return sorted(dict.fromkeys(cells), key=lambda cell: cell.seed)


def _with(cells: Sequence[Cell], name: str, wanted: tuple[str, ...]) -> list[Cell]:
    """The cells with a wanted value of the field `name`; all with it, if none has it."""
    if not wanted:
        return list(cells)
    planned = {getattr(cell, name) for cell in cells}
    kept = [cell for cell in cells if getattr(cell, name) in wanted]
    others = [value for value in wanted if value not in planned]
    changed = [Cell(**(cell.to_json() | {name: value})) for value in others for cell in cells]
    return kept + changed
