"""Random study files: read and previewed, or refused in a sentence that names the file."""

import random
from pathlib import Path
from typing import Any

from ceibo.acquisition import ACQUISITIONS
from ceibo.cli.opening import preview
from ceibo.cli.studyfile import parse
from ceibo.cli.toml import to_toml
from ceibo.decide import Space
from ceibo.errors import InputError
from ceibo.gp import KERNELS
from soak.fuzz_studies import WrongError, space
from soak.fuzz_text import NUMBERS, mutate, some_text

_PATH = Path("study.toml")
_ODD = ("acquisition", "kernel", "fit", "seed", "initial", "direction", "name", "storage")


def study_file(seed: int) -> str:
    """A study file made at random, often damaged."""
    rng = random.Random(f"file {seed}")
    try:
        chosen: Space | None = Space(space(rng)) if rng.random() < 0.7 else None
    except InputError:
        chosen = None
    content = _text(rng, chosen).encode("utf-8", "surrogatepass")
    whole = rng.random() < 0.5
    if not whole:
        content = mutate(rng, content)
    if rng.random() < 0.02:
        content = _deep(rng)
    try:
        loaded = parse(content, _PATH)
    except InputError as error:
        check_refusal(error, str(_PATH))
        return "refused"
    try:
        study = preview(loaded)
    except InputError as error:
        check_refusal(error, None)
        return "refused"
    try:
        if whole and chosen is not None and study.space != chosen:
            raise WrongError(f"the space {chosen!r} was read as {study.space!r}")
    finally:
        study.close()
    return "ok"


def check_refusal(error: InputError, name: str | None) -> None:
    """Raises an error unless a refusal is a sentence of bearable length that names its file."""
    text = str(error)
    if name is not None and name not in text:
        raise WrongError(f"the refusal names no file: {text[:200]}")
    if not text.strip() or len(text) > 20_000:
        raise WrongError(f"a refusal of {len(text)} characters: {text[:200]}")


def _text(rng: random.Random, chosen: Space | None) -> str:
    lines = []
    for key in _ODD:
        if rng.random() < 0.2:
            lines.append(f"{key} = {_value(rng, key)}")
    if chosen is not None:
        entries = [
            f"{to_toml(name, key=True)} = {to_toml(entry)}"
            for name, entry in chosen.to_json().items()
        ]
    else:
        entries = [
            f"{to_toml(_name(rng), key=True)} = {_entry(rng)}" for _ in range(rng.randint(0, 3))
        ]
    lines += ["[space]", *entries]
    if rng.random() < 0.2:
        argv = [rng.choice(["python", "{x}", "{", "}}", "{y", some_text(rng)]) for _ in range(3)]
        lines += ["[command]", f"argv = {to_toml(argv)}"]
        lines += [f"timeout = {rng.choice(NUMBERS)}"] * (rng.random() < 0.5)
    if rng.random() < 0.2:
        lines += ["[run]", f"jobs = {rng.choice(NUMBERS)}"]
        lines += [f"lease = {rng.choice(NUMBERS)}"] * (rng.random() < 0.5)
    if rng.random() < 0.2:
        keys = ("trials", "cost", "time", "failures", "trails")
        lines += ["[stop]", *(f"{key} = {rng.choice(NUMBERS)}" for key in rng.sample(keys, 1))]
    return rng.choice(["\n", "\n", "\r\n"]).join(lines) + "\n"


def _value(rng: random.Random, key: str) -> str:
    """A value of a key at the top of the file: usually one of its kind."""
    if rng.random() < 0.1:
        return rng.choice(NUMBERS)
    if rng.random() < 0.1:
        return to_toml(some_text(rng))
    usual: dict[str, list[Any]] = {
        "acquisition": list(ACQUISITIONS),
        "kernel": [*KERNELS, "auto"],
        "fit": ["map", "ml"],
        "seed": [0, 7],
        "initial": [3, 8],
        "direction": ["minimize", "maximize"],
        "name": ["demo", "a/b"],
        "storage": ["sqlite:///x.db", "sqlite://", "postgresql://u@h/d", "sqlite:///a?b.db"],
    }
    return to_toml(rng.choice(usual[key]))


def _name(rng: random.Random) -> str:
    return some_text(rng, 2) or "x"


def _entry(rng: random.Random) -> str:
    """An entry of the space, right or wrong."""

    def number() -> str:
        return rng.choice(NUMBERS)

    return rng.choice(
        [
            f'{{type = "float", low = {number()}, high = {number()}}}',
            f'{{type = "float", low = {number()}, high = {number()}, log = true}}',
            f'{{type = "float", low = {number()}, high = {number()}, step = {number()}}}',
            f'{{type = "int", low = {number()}, high = {number()}}}',
            f'{{type = "int", low = {number()}, high = {number()}, log = {number()}}}',
            f'{{type = "categorical", choices = [{number()}, {number()}, "a"]}}',
            f"{{type = {number()}}}",
            f'{{typ = "float", low = {number()}}}',
            number(),
        ]
    )


def _deep(rng: random.Random) -> bytes:
    """Nesting, and very many parameters."""
    depth = rng.choice([50, 200, 400, 5000])
    return rng.choice(
        [
            b"x = " + b"[" * depth + b"]" * depth,
            b"[space]\nx = " + b"{a = " * depth + b"1" + b"}" * depth,
            b"[space]\nx = {type = 'categorical', choices = " + b"[" * depth + b"]" * depth + b"}",
            b"[" + b".".join([b"a"] * depth) + b"]\n",
            b"seed = " + b"9" * depth + b"\n",
            b"seed = 0x" + b"9" * depth + b"\n[space]\nx = {type = 'float', low = 0, high = 1}\n",
        ]
    )
