"""Random outputs of commands: read as a measurement, or refused in a sentence."""

import json
import math
import random

from ceibo.command.outcome import is_pair, parse, parse_line
from ceibo.errors import InputError
from soak.fuzz_files import check_refusal
from soak.fuzz_studies import WrongError, extreme
from soak.fuzz_text import NUMBERS, PIECES, mutate, some_text


def output(seed: int) -> str:
    """What a command printed at random; a plain number must come back as it was."""
    rng = random.Random(f"output {seed}")
    value, noise = extreme(rng), abs(extreme(rng))
    known = {
        f"{value!r}": (value, None),
        f"{value!r} {noise!r}": (value, noise),
        f"{value!r} ± {noise!r}": (value, noise),
        json.dumps({"value": value, "noise": noise}): (value, noise),
    }
    line = rng.choice(list(known))
    wanted = known[line] if rng.random() < 0.3 else None
    text = f"{some_text(rng)}\n{line}\n"
    if wanted is None:
        text = _odd(rng, line)
    try:
        told = parse(text)
        pair = is_pair(line)
        if wanted is None:
            parse_line(text.strip(), replicates=rng.random() < 0.5)
    except InputError as error:
        check_refusal(error, None)
        if wanted is not None:
            raise WrongError(f"{line!r} was refused: {error}") from error
        return "refused"
    if wanted is not None and (told.value, told.noise) != wanted:
        raise WrongError(f"{line!r} was read as {told!r}")
    if told.noise is not None and not 0 <= told.noise < math.inf:
        raise WrongError(f"noise {told.noise!r} of {text[:80]!r} (a pair: {pair})")
    return "ok"


def _odd(rng: random.Random, line: str) -> str:
    """A line that may be no result."""
    way = rng.randrange(7)
    if way == 0:
        return mutate(rng, line.encode()).decode("utf-8", "replace")
    if way == 1:
        return " ".join(rng.choice(NUMBERS) for _ in range(rng.randint(1, 5)))
    if way == 2:
        return rng.choice([" ", ", ", ";", "±", "\t"]).join(rng.choice(PIECES) for _ in range(3))
    if way == 3:
        keys = rng.sample(["value", "noise", "replicates", "Value", ""], rng.randint(0, 3))
        entries = ", ".join(f'"{key}": {rng.choice(NUMBERS)}' for key in keys)
        return f"{{{entries}}}"
    if way == 4:
        return (
            "[" * rng.choice([1, 3, 1000, 100_000])
            + ", ".join(rng.choice(NUMBERS) for _ in range(rng.randint(0, 4)))
            + "]" * rng.choice([1, 1, 3])
        )
    if way == 5:
        return some_text(rng, 6)
    return " ".join(["1000.2"] * rng.choice([100, 1000]))
