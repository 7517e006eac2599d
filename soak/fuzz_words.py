"""Random command lines: verbs with arguments that fit them, and some that do not."""

import random
from collections.abc import Callable
from typing import Final

from ceibo.cli.toml import to_toml
from soak.fuzz_studies import extreme
from soak.fuzz_text import NUMBERS, some_text

TARGETS: Final = ("out.csv", "out.json", "out.html", "out.xlsx", "study.toml", "study.db", "/")
TABLES: Final = ("sheet.csv", "sheet.csv", "none.csv", "study.db", ".")
# Verbs that wait for somebody or never end (serve, run without --dry-run, --watch) are left out.
OPTIONS: Final = (
    *("--json", "--key", "--cost", "--storage", "--new", "--again", "--dry-run", "--force", "-o"),
    *("--format", "--name", "--value", "--noise", "--replicates", "--failed", "-p", "--release"),
    *("--withdraw", "--help", "--version", "--debugs", "-q", "-j", "--", "-", "--study", "--fixed"),
    *("--shared", "--block", "--count", "--outcome", "--column", "--read", "--pending", "-n"),
    *("--before", "--bom", "--separator", "--decimal", "--skip", "--maximize"),
)


def arguments_of(rng: random.Random) -> list[str]:
    """One command line without the program's name."""
    if rng.random() < 0.03:
        return [some_text(rng) for _ in range(rng.randint(0, 3))]
    verb = rng.choice(list(VERBS))
    words = [verb, *VERBS[verb](rng)]
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        words.insert(rng.randint(1, len(words)), _word(rng))
    if rng.random() < 0.05 and len(words) > 1:
        del words[rng.randrange(1, len(words))]
    if verb == "run" and "--dry-run" not in words:
        words.append("--dry-run")
    return [word for word in words if word not in ("--watch", "paper")]


def _word(rng: random.Random) -> str:
    """Any word; none that waits, nor one that goes out to a network."""
    return rng.choice([rng.choice(OPTIONS), rng.choice(NUMBERS), some_text(rng)])


def _file(rng: random.Random) -> str:
    """A study file, or its database; seldom what is neither."""
    files = ["study.toml"] * 25 + ["several.toml"] * 20
    files += ["study.db", "several.db", "bad.toml", "none.toml", "sheet.csv", ".", ""]
    return str(rng.choice(files))


def _trial(rng: random.Random) -> str:
    return str(rng.choice([*"0012234", "-1", "9" * 20, rng.choice(NUMBERS)]))


def _value(rng: random.Random) -> str:
    return rng.choice([repr(extreme(rng)), f"{rng.random():.3f}", rng.choice(NUMBERS)])


def _values(rng: random.Random) -> list[str]:
    """Replicates, or values by the names of outcomes."""
    if rng.random() < 0.4:
        names = rng.sample(["yield", "cost", "yield", some_text(rng)], rng.randint(1, 3))
        return [f"{name}={_value(rng)}" for name in names]
    return [_value(rng) for _ in range(rng.choice([1, 1, 2, 3]))]


def _settings(rng: random.Random) -> list[str]:
    """Settings as NAME=VALUE, or a table of them."""
    if rng.random() < 0.4:
        return ["x=0.5", "c=b", "n=2"] if rng.random() < 0.5 else ["c=<i>", "x=0.25"]
    if rng.random() < 0.2:
        return [rng.choice(TABLES)]
    values = {
        "x": ["0", "0.5", "1", "2", "0,5", _value(rng)],
        "n": ["1", "8", "3.5", _value(rng)],
        "c": ["b", "=a", "<i>", "d", some_text(rng)],
    }
    names = [name for name in values if rng.random() < 0.9]
    return [f"{name}={rng.choice(values[name])}" for name in names]


def _held(rng: random.Random) -> list[str]:
    """Parameters that are held or shared."""
    words = [word for each in _settings(rng)[:1] for word in ("--fixed", each)]
    return rng.choice([[], [], words, ["--shared", rng.choice(["x", "c", some_text(rng)])]])


def _count(rng: random.Random) -> list[str]:
    return rng.choice([[], [], ["-n", rng.choice(["1", "2", "4", "0", rng.choice(NUMBERS[:12])])]])


def _maybe(rng: random.Random, *words: str) -> list[str]:
    return list(words) if rng.random() < 0.3 else []


def _init(rng: random.Random) -> list[str]:
    spelling = rng.choice(["x=0:1", "n=1:8:int", "c=a,b", "x=1:0", f"x={to_toml(some_text(rng))}"])
    outcome = rng.choice(["yield=maximize:unit=%", "cost=at_most:2", some_text(rng)])
    rule = rng.choice(["x <= 0.5", "x + n == 2", "not (c == 'a')", some_text(rng)])
    more = _maybe(rng, "--outcome", outcome) + _maybe(rng, "--rule", rule)
    target = rng.choice(["new.toml", rng.choice(TARGETS)])
    return ["-p", spelling, *more, "-o", target, "--", "echo", "{x}"]


def _tell(rng: random.Random) -> list[str]:
    if rng.random() < 0.3:
        ways = (["--failed", some_text(rng)], ["--release"], ["--withdraw"])
        return [_file(rng), _trial(rng), *rng.choice(ways)]
    return _correct(rng)


def _correct(rng: random.Random) -> list[str]:
    ways = (["--key", some_text(rng)], ["--replicates"], ["--json"], ["--block", some_text(rng)])
    more = rng.choice([[], [], *ways])
    return [_file(rng), _trial(rng), *more, *_values(rng)]


def _void(rng: random.Random) -> list[str]:
    outcome = _maybe(rng, "--outcome", rng.choice(["yield", "cost", some_text(rng)]))
    return [_file(rng), _trial(rng), rng.choice(["broken", some_text(rng)]), *outcome]


def _sheet(rng: random.Random) -> list[str]:
    if rng.random() < 0.4:
        column = _maybe(rng, "--column", rng.choice(["c=x", "value=yield", some_text(rng)]))
        again = _maybe(rng, "--again") + _maybe(rng, "--dry-run")
        return [_file(rng), rng.choice(TABLES), "--read", *column, *again]
    form = _maybe(rng, "--decimal", rng.choice([",", ".", some_text(rng)]))
    form += _maybe(rng, "--separator", rng.choice([";", "\\t", some_text(rng)]))
    kinds = _maybe(rng, "--block", rng.choice(["day", some_text(rng)]))
    kinds += _maybe(rng, "--replicates", rng.choice(["2", "50", "51"]))
    return [_file(rng), rng.choice(TARGETS), *_count(rng), *_held(rng), *form, *kinds]


def _backtest(rng: random.Random) -> list[str]:
    column = _maybe(rng, "--value", rng.choice(["value", "yield", some_text(rng)]))
    return [rng.choice([*TABLES, _file(rng)]), "--seeds", "1", *column]


def _import(rng: random.Random) -> list[str]:
    return [_file(rng), rng.choice(TABLES), *_maybe(rng, "--new"), *_maybe(rng, "--again")]


def _change(rng: random.Random) -> list[str]:
    return [rng.choice(["changed.toml", _file(rng)]), *_maybe(rng, "--before", *_settings(rng)[:1])]


def _batch(rng: random.Random) -> list[str]:
    return [_file(rng), *_count(rng), *_held(rng), *_maybe(rng, "--json")]


def _told(rng: random.Random) -> list[str]:
    return [_file(rng), *_maybe(rng, "--json")]


VERBS: Final[dict[str, Callable[[random.Random], list[str]]]] = {
    "ask": _batch,
    "backtest": _backtest,
    "backup": lambda rng: [_file(rng), rng.choice(TARGETS), *_maybe(rng, "--force")],
    "best": lambda rng: [*_told(rng), *_maybe(rng, "--fixed", *_settings(rng)[:1])],
    "change": _change,
    "confirm": _batch,
    "correct": _correct,
    "doctor": _told,
    "enqueue": lambda rng: [_file(rng), *_settings(rng)],
    "export": lambda rng: [_file(rng), "-o", rng.choice(TARGETS)],
    "import": _import,
    "init": _init,
    "predict": lambda rng: [_file(rng), *_settings(rng), *_maybe(rng, "-o", rng.choice(TARGETS))],
    "report": lambda rng: [_file(rng), "-o", rng.choice(TARGETS)],
    "run": lambda rng: [_file(rng), "--dry-run"],
    "sheet": _sheet,
    "should-stop": lambda rng: [_file(rng), "--cost", rng.choice(NUMBERS)],
    "show": lambda rng: [_file(rng), *([_trial(rng)] if rng.random() < 0.6 else [])],
    "studies": _told,
    "tell": _tell,
    "void": _void,
}
