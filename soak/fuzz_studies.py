"""Random extreme studies, and what must hold of them: answers in the box, pages that can be read.

Values from the smallest to the largest doubles, noise of none to more than any value, duplicates,
clusters and outliers; dimensions whose ends are far apart, next to one another, or huge; trials
that failed, were withdrawn, are under way, were corrected.
"""

import math
import random
import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Final, final

from ceibo import Categorical, Float, Int, Measurement, Ordinal, Study
from ceibo.acquisition import ACQUISITIONS
from ceibo.decide import Space
from ceibo.decide.dimensions import Dimension, Value
from ceibo.errors import ConflictError, InputError
from ceibo.gp import KERNELS
from ceibo.report import render_report
from ceibo.study import Failure

LARGEST: Final = sys.float_info.max
EXPONENTS: Final = (-320, -308, -300, -160, -100, -8, -1, 0, 1, 6, 15, 100, 155, 200, 300, 307)
COUNTS: Final = (0, 1, 2, 3, 4, 5, 6, 8, 12, 20, 35, 60)


@final
class WrongError(Exception):
    """An answer that is no answer: out of the box, NaN, or other than what was stored."""


# -- spaces --------------------------------------------------------------------------------------


def float_dimension(rng: random.Random) -> Float:
    """A float of any width at any place; some are refused."""
    way = rng.randrange(7)
    if way == 0:
        return Float(0, 1)
    if way == 1:
        return Float(-LARGEST, LARGEST)
    if way == 2:
        return Float(10.0 ** -rng.randint(1, 307), 10.0 ** rng.randint(1, 307), log=True)
    if way == 3:
        low = extreme(rng)
        return Float(low, math.nextafter(low, math.inf), log=rng.random() < 0.3)
    if way == 4:
        return Float(0, 10.0 ** rng.choice(EXPONENTS), step=10.0 ** rng.choice(EXPONENTS))
    low, high = sorted([extreme(rng), extreme(rng)])
    step = abs(extreme(rng)) if rng.random() < 0.2 else None
    return Float(low, high, log=rng.random() < 0.3, step=step)


def int_dimension(rng: random.Random) -> Int:
    """An int of any size; some are refused."""
    base = rng.choice([0, 1, -5, 2**31, 2**53, -(2**53), 2**63, 2**70, -(2**70), 10**30])
    base = rng.choice([base, base, base, 10**308, 10**400, -(10**400)])
    width = rng.choice([1, 2, 3, 10, 1000, 10_001, 2**39, 2**40 - 1, 2**40])
    step = rng.choice([1, 1, 1, 2, 7, 10**6])
    return Int(base, base + width * step, log=rng.random() < 0.3, step=step)


def ordinal_dimension(rng: random.Random) -> Ordinal:
    """Levels of every size and type, mostly in order."""
    numbers = [extreme(rng) for _ in range(rng.randint(1, 6))]
    levels: list[Value] = list(sorted(numbers) if rng.random() < 0.8 else numbers)
    if rng.random() < 0.3:
        levels += ["a", "<b>", True]
    return Ordinal(levels, log=rng.random() < 0.3)


def categorical_dimension(rng: random.Random) -> Categorical:
    """Choices of every type, sometimes very many."""
    if rng.random() < 0.04:
        return Categorical([f"c{k}" for k in range(rng.choice([100, 10_000]))])
    pool: list[Value] = [
        "",
        "a",
        "<b>&\"'",
        "=1+1",
        "\u202e\0\n",
        "x" * 3000,
        "ü",
        1,
        1.0,
        True,
        None,
        "1",
    ]
    pool += [(), (64, 64), (1.0, (True, None)), ("=1+1", "]")]
    pool += [-0.0, 10**400, 5e-324, LARGEST, "nan", "-", "\ud800"]
    return Categorical(rng.sample(pool, rng.randint(1, 6)))


def extreme(rng: random.Random) -> float:
    """A finite number of any size."""
    mantissa = rng.choice([1.0, -1.0, rng.uniform(-9, 9), 0.0])
    number = float(f"{mantissa:.17f}e{rng.choice(EXPONENTS)}")
    return min(max(number, -LARGEST), LARGEST)


def space(rng: random.Random) -> dict[str, Dimension]:
    """A space of one to five dimensions."""
    kinds: tuple[Callable[[random.Random], Dimension], ...] = (
        float_dimension,
        float_dimension,
        int_dimension,
        ordinal_dimension,
        categorical_dimension,
    )
    names = ["x", "a b", "<i>", "=y", "value", "trial", "n" * 200, "ü", '"', "&amp;"]
    found: dict[str, Dimension] = {}
    for name in rng.sample(names, rng.choice([1, 1, 2, 2, 3, 5])):
        while name not in found:
            try:
                found[name] = rng.choice(kinds)(rng)
            except InputError:
                if rng.random() < 0.1:
                    raise
    return found


# -- studies -------------------------------------------------------------------------------------


def values_of(rng: random.Random, count: int) -> list[float]:
    """So many values, of one size or of all sizes."""
    scale = 10.0 ** rng.choice(EXPONENTS)
    way = rng.randrange(8)
    if way == 0:
        return [extreme(rng) for _ in range(count)]
    if way == 1:
        return [scale] * count
    if way == 2:
        return [rng.choice([LARGEST, -LARGEST, 0.0, 5e-324, 1.0]) for _ in range(count)]
    if way == 3:
        return [scale * (1 + rng.randrange(3) * 2**-52) for _ in range(count)]
    found = [rng.gauss(0, 1) * scale for _ in range(count)]
    if way == 4 and count:
        found[-1] = extreme(rng)
    if way == 5:
        found = [rng.choice([1.0, 2.0, 3.0]) * scale for _ in range(count)]
    return [min(max(each, -LARGEST), LARGEST) for each in found]


def noise_of(rng: random.Random, way: int, value: float) -> float | None:
    """The noise of a value: unknown, none, small, large, beyond measure, or any of them."""
    if way == 5:
        way = rng.randrange(5)
    size = abs(value) or 1.0
    return (
        None,
        0.0,
        1e-3 * size,
        min(10 * size, LARGEST),
        min(10.0 ** rng.choice((155, 160, 200, 300, 308)), LARGEST),
    )[way]


def study(rng: random.Random) -> Study:
    """A study with a random past; InputError if its space or settings are refused."""
    chosen = Space(space(rng))
    made = Study.create(
        chosen,
        direction=rng.choice(["minimize", "maximize"]),
        acquisition=rng.choice(list(ACQUISITIONS)),
        kernel=rng.choice([*KERNELS, "auto"]),
        fit=rng.choice(["map", "map", "ml"]),
        n_initial=rng.choice([None, 1, 2, 5, 30]),
        max_observations=rng.choice([1000, 1000, 10, 25]),
        seed=rng.randrange(1000),
    )
    count = rng.choice(COUNTS)
    way, layout = rng.randrange(6), rng.randrange(4)
    centre = [rng.random() for _ in chosen.names]
    rows: list[tuple[dict[str, object], Measurement | Failure]] = []
    for value in values_of(rng, count):
        point = _place(rng, layout, centre)
        noise = noise_of(rng, way, value)
        told = Measurement(value, noise)
        if rng.random() < 0.05:
            told = Measurement.of([value, value / 2, extreme(rng)][: rng.randint(1, 3)])
        rows.append((chosen.from_unit(point), told if rng.random() < 0.95 else Failure("<b>x</b>")))
    made.add_all(rows)
    _live(rng, made)
    return made


def _place(rng: random.Random, layout: int, centre: list[float]) -> list[float]:
    """A point of the cube: anywhere, in a cluster, in a corner, or always the same."""
    if layout == 0:
        return [rng.random() for _ in centre]
    if layout == 1:
        return [min(max(each + 1e-12 * rng.gauss(0, 1), 0.0), 1.0) for each in centre]
    if layout == 2:
        return [float(rng.random() < 0.5) for _ in centre]
    return centre


def _live(rng: random.Random, made: Study) -> None:
    """What happens to trials after their measurement: corrections, repeats, open ends."""
    for trial in made.trials:
        if trial.measurements and rng.random() < 0.08:
            made.correct(trial, extreme(rng), rng.choice([None, 0.0, 1e160]), key="")
        if trial.measurements and rng.random() < 0.1:
            made.tell(trial, trial.measurements[0].value, key="again")
        if trial.state == "failed" and rng.random() < 0.3:
            made.tell(trial, extreme(rng), key="late")
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        made.enqueue(made.space.from_unit([rng.random() for _ in made.space.names]))
    for trial in made.trials:
        if trial.state == "queued" and rng.random() < 0.3:
            made.withdraw(trial)


# -- what must hold ------------------------------------------------------------------------------


def engine(seed: int) -> str:
    """Asks and tells, and all answers of a random study."""
    rng = random.Random(f"engine {seed}")
    made = _made(rng)
    if made is None:
        return "refused"
    try:
        for _ in range(rng.randint(1, 3)):
            trial = made.ask()
            check_params(made, trial.params, "suggestion")
            value = extreme(rng)
            made.tell(trial, value, rng.choice([None, 0.0, 1.0, abs(extreme(rng))]))
            stored = made.trials[trial.number].measurements[0].value
            if stored != value:
                raise WrongError(f"stored {stored!r} for {value!r}")
        _check_answers(made, rng)
    finally:
        made.close()
    return "ok"


def _check_answers(made: Study, rng: random.Random) -> None:
    for answer in (made.best, made.recommended):
        check_params(made, answer.params, "answer")
        if not math.isfinite(answer.mean) or not answer.std >= 0:
            raise WrongError(f"mean {answer.mean!r} ± {answer.std!r}")
    observed = made.best_observed
    check_params(made, observed.params, "raw best")
    told = [each.value for trial in made.trials for each in trial.measurements]
    extremes = max(told) if made.direction == "maximize" else min(told)
    if observed.value != extremes:
        raise WrongError(f"raw best {observed.value!r} in place of {extremes!r}")
    verdict = made.should_stop(rng.choice([5e-324, 1e-3, 1.0, 1e300]))
    if any(math.isnan(each) for each in verdict.remaining):
        raise WrongError(f"remaining {verdict.remaining!r}")


def check_params(made: Study, params: dict[str, object], what: str) -> None:
    """Refuses parameters that the space would change or not take."""
    try:
        same = made.space.check(params) == params
    except InputError as error:
        raise WrongError(f"{what} out of the space: {error}") from error
    if not same:
        raise WrongError(f"{what} {params!r} is not as the space has it")


def report(seed: int) -> str:
    """The page of a random study: rendered, well-formed, with finite coordinates."""
    rng = random.Random(f"report {seed}")
    made = _made(rng)
    if made is None:
        return "refused"
    try:
        for _ in range(rng.choice([0, 0, 1])):
            made.ask()
        page = render_report(made, cost=rng.choice([None, None, 5e-324, 1.0, 1e300, LARGEST]))
        check_page(page)
    finally:
        made.close()
    return "ok"


def _made(rng: random.Random) -> Study | None:
    """A study, or None if its input was refused."""
    try:
        return study(rng)
    except (InputError, ConflictError):
        return None


_GEOMETRY: Final = (
    *("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "width", "height"),
    *("points", "d", "transform", "viewbox"),
)
_NUMBERS: Final = re.compile(r"[-0-9., MLHVZ]*|translate\([-0-9. ]+\) rotate\(-90\)")
_VOID: Final = ("meta", "link", "br", "img", "input")


@final
class _Page(HTMLParser):
    """Checks that tags close in order, that coordinates are numbers, and what tags there are."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in _VOID:
            self.open.append(tag)
        self._check(tag, attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._check(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            raise WrongError(f"</{tag}> closes nothing")

    def _check(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(set(names)) < len(names) or any(name.startswith("on") for name in names):
            raise WrongError(f"<{tag}> has the attributes {names}")
        for name, value in attrs:
            if name in _GEOMETRY and not _NUMBERS.fullmatch(value or ""):
                raise WrongError(f"<{tag} {name}={(value or '')[:80]!r}>")


def check_page(page: str) -> None:
    """Raises an error unless a page is well-formed, with numbers where they must be."""
    found = _Page()
    found.feed(page)
    found.close()
    if found.open:
        raise WrongError(f"never closed: {found.open}")
    for tag in ("script", "style", "main"):
        if found.tags.count(tag) != 1:
            raise WrongError(f"{found.tags.count(tag)} elements <{tag}>")
    if {"img", "iframe", "base", "form", "i", "h4"} & set(found.tags):
        raise WrongError("stored text became HTML")
    if found.tags.count("meta") != 4:
        raise WrongError(f"{found.tags.count('meta')} elements <meta>")
    page.encode()
