"""Hostile outputs of commands: the number that the last line says, or a failure with a reason.

The same of several outcomes: what the last lines say by name. Most go through the parser as the
supervisor hands them over; some are printed by real commands.
"""

import argparse
import json
import math
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

from ceibo.command.command import Command
from ceibo.command.outcome import LONGEST, parse
from ceibo.command.outcomes import parse_outcomes
from ceibo.command.placeholders import Template
from ceibo.decide import AtMost, Categorical, Maximize, Measurement, Outcomes, Space, Watch
from ceibo.errors import CommandFailedError, InputError

SEPARATORS: Final = ("\n", "\r\n", "\r", "\v", "\f", "\x1c", "\x85", "\u2028")
WORDS: Final = (
    *("nan", "-inf", "Infinity", "1e999999", "1e-999999", "-0.0", "0x10", "1_000", "1,5", "1 000"),
    *("\u0663.\u0661", "\u22121.5", "+.5", "5.", ".", "-", "1e", "--1", "1.2.3", "½", "1%", "$1"),
    *("0.31 ± 0.04", "0.31 +/- 0.04", "± 0.04", "0.31 ±", "1 ± 2 ± 3", "0.3 -0.1", "None", "true"),
    *(
        '{"value": 1e400}',
        '{"value": "1"}',
        '{"value": true}',
        '{"value": 1, "noise": -1}',
        "[[1]]",
    ),
    *("[1, 2", "[]", "{}", '{"replicates": []}', '{"replicates": [1, null]}', "[NaN]", "[1, 2]x"),
    *('{"value": 1, "unit": "V"}', "null", '{"value": [1]}', "[" * 3000, "\ufeff1.5", "1\0", "\0"),
)
OUTCOMES: Final = Outcomes({"yield": Maximize(), "im purity": AtMost(2.0), "colour": Watch()})
NAMES: Final = (*OUTCOMES.names, "yeild", "Yield", "", "value")


@final
@dataclass
class Figures:
    """What the outputs came to."""

    cases: int = 0
    values: int = 0  # exactly what the last line says
    refused: int = 0  # with a reason
    wrong: list[str] = field(default_factory=list)  # with its seed

    def count(self, name: str, verdict: bool | str) -> None:
        """Counts the verdict about one output."""
        self.cases += 1
        if isinstance(verdict, str):
            self.wrong.append(f"{name}: {verdict}")
        else:
            self.values += verdict
            self.refused += not verdict

    @property
    def good(self) -> bool:
        """Whether none was wrong, and both kinds of answer occurred."""
        return not self.wrong and self.values > 0 and self.refused > 0


def hostile_output(generator: random.Random) -> bytes:
    """One output: some lines before, the last line, and what comes after it."""
    before = "".join(_chatter(generator) for _ in range(generator.randint(0, 3)))
    after = generator.choice(["", "\n", "\n", "\r\n", "\n \n\t\n", "\n" * 10, " \n"])
    line = _line(generator)
    if generator.random() < 0.25:
        after = "\n"
        # the line's beginning falls near the place where the output is cut
        size = len((line + after).encode("utf-8", "replace"))
        before += "0" * max(LONGEST - size + generator.randint(-3, 3), 0)
        before += generator.choice(["", "\n", " "])
    if generator.random() < 0.02:
        after += generator.choice([" ", "\n"]) * generator.choice([LONGEST - 10, LONGEST + 10])
    output = (before + line + after).encode("utf-8", "replace")
    if generator.random() < 0.05:  # bytes that are no text
        at = generator.randrange(len(output) + 1)
        output = output[:at] + generator.randbytes(generator.randint(1, 4)) + output[at:]
    return output


def _chatter(generator: random.Random) -> str:
    text = generator.choice(["epoch 3", "loss 0.25", "12.5", "", "50 %", "▏" * 40, "0.1 0.2 0.3"])
    if generator.random() < 0.1:
        text *= generator.randint(1000, 9000)
    return text + generator.choice(SEPARATORS)


def _line(generator: random.Random) -> str:
    kind = generator.random()
    if kind < 0.35:
        return generator.choice(WORDS)
    if kind < 0.75:
        return generator.choice([" ", "  ", "\t", ", "]).join(
            _number(generator) for _ in range(generator.randint(1, 5))
        )
    if kind < 0.85:  # many replicates, some too many to be kept
        count = generator.choice([100, 5000, 9000, 20_000])
        return " ".join([_number(generator)] * count)
    if kind < 0.92:
        values = [generator.uniform(-1e3, 1e3) for _ in range(generator.randint(1, 4))]
        return json.dumps(generator.choice([values, {"replicates": values}, {"value": values[0]}]))
    digits = generator.choice([300, 399, 400, 5000, LONGEST - 2, LONGEST, LONGEST + 5000])
    return generator.choice(["1", "-1", "0.", "[1", '{"value": 1']) + "0" * digits


def _number(generator: random.Random) -> str:
    value = generator.uniform(-1, 1) * 10.0 ** generator.randint(-320, 308)
    form = generator.choice(["{:r}", "{:.3f}", "{:e}", "{:g}", "{:.0f}"])
    return repr(value) if form == "{:r}" else form.format(value)


def expected(output: bytes) -> tuple[float, ...] | None:
    """The numbers of the last line that is not blank, read by float() or as JSON; None if none."""
    lines = output.decode("utf-8", "backslashreplace").splitlines()
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    try:
        if last[:1] in ("{", "["):
            data = json.loads(last)
            if isinstance(data, dict):
                data = data.get("replicates") or [data[k] for k in ("value", "noise") if k in data]
            return tuple(_float(each) for each in data)
        words = [word for word in re.split(r"±|\+/-|,?\s+", last) if word]
        return tuple(float(word.replace("\u2212", "-")) + 0.0 for word in words)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def hostile_results(generator: random.Random) -> bytes:
    """An output with several outcomes: some lines before, and results by name."""
    names = [name for name in OUTCOMES if generator.random() < 0.93]
    if generator.random() < 0.15:
        names.append(generator.choice(NAMES))
    generator.shuffle(names)
    before = "".join(_chatter(generator) for _ in range(generator.randint(0, 2)))
    before += generator.choice(["", "", "lr=0.1\n", "yield=1\ndone\n", '{"yield": 1}\n'])
    if generator.random() < 0.3:
        pairs = [f"{json.dumps(name)}: {_json_result(generator)}" for name in names]
        return f"{before}{{{', '.join(pairs)}}}\n".encode()
    lines = [f"{name}{_gap(generator)}={_gap(generator)}{_result(generator)}" for name in names]
    end = generator.choice(SEPARATORS)
    return (before + end.join(lines) + generator.choice(["", "\n", "\n \n"])).encode()


def _gap(generator: random.Random) -> str:
    return generator.choice(["", "", " ", "\t"])


def _result(generator: random.Random) -> str:
    if generator.random() < 0.1:
        return generator.choice([word for word in WORDS if len(word) < 100])
    gap = generator.choice([" ", "  ", "\t", ", "])
    return gap.join(_number(generator) for _ in range(generator.randint(1, 4)))


def _json_result(generator: random.Random) -> str:
    value, noise = generator.uniform(-1e3, 1e3), generator.uniform(0, 9)
    forms = [value, [value, noise], {"value": value, "noise": noise}, {"replicates": [value]}]
    return json.dumps(generator.choice([*forms, *forms, None, "1", True, {}, {"valu": 1}]))


def expected_results(output: bytes) -> dict[str, tuple[float, ...]] | None:
    """The numbers of each outcome in the last lines, read by other means; None if none."""
    lines = [line.strip() for line in output.decode().splitlines() if line.strip()]
    if lines and lines[-1].startswith("{"):
        found = [(key, _numbers(json.dumps(each))) for key, each in _pairs(lines[-1])]
    else:
        block = []
        while lines and "=" in lines[-1] and not lines[-1].startswith("{"):
            block.append(lines.pop())
        found = [(name.strip(), _numbers(text)) for name, _, text in _parted(block)]
    told = {name: numbers for name, numbers in found if numbers is not None}
    whole = set(OUTCOMES.needed) <= set(told) <= set(OUTCOMES)
    return told if whole and len(told) == len(found) else None


def _numbers(text: str) -> tuple[float, ...] | None:
    return expected(text.encode())


def _parted(lines: list[str]) -> list[tuple[str, str, str]]:
    return [line.partition("=") for line in lines]


def _pairs(line: str) -> list[tuple[str, object]]:
    """The keys and values of an object of JSON, twice where one is there twice."""
    try:
        found = json.loads(line, object_pairs_hook=list)
    except ValueError:
        return []
    decode = json.loads(line)
    return [(key, decode[key]) for key, _ in found if decode[key] is not None]


def judge_results(output: bytes) -> bool | str:
    """As `judge`, of several outcomes."""
    try:
        found = parse_outcomes(output.decode(), OUTCOMES)
    except InputError as error:
        return False if len(str(error)) > 10 else "a failure without a reason"
    except Exception as error:
        return f"unexpected {type(error).__name__}: {error}"
    if not all(each.is_finite for each in found.values()):
        return False
    told = {name: _told(each) for name, each in found.items()}
    wanted = expected_results(output)
    return True if told == wanted else f"read {str(told)[:80]}, wanted {str(wanted)[:80]}"


def _told(measurement: Measurement) -> tuple[float, ...]:
    noise = () if measurement.noise is None else (measurement.noise,)
    return measurement.replicates or (measurement.value, *noise)


def attack_outcomes(cases: int, seed: int) -> Figures:
    """Reads many hostile outputs of several outcomes."""
    figures = Figures()
    for index in range(cases):
        name = f"{seed}/{index}"
        figures.count(name, judge_results(hostile_results(random.Random(name))))
    return figures


def _float(value: float) -> float:
    try:
        return float(value) + 0.0
    except OverflowError:
        return math.inf


def judge(output: bytes, read: Callable[[bytes], Measurement]) -> bool | str:
    """Whether the output gave its number (or, False, a reason); text for what is wrong."""
    try:
        found = read(output)
    except (InputError, CommandFailedError) as error:
        return False if len(str(error)) > 10 else "a failure without a reason"
    except Exception as error:
        return f"unexpected {type(error).__name__}: {error}"
    wanted = expected(output)
    told = _told(found)
    if not found.is_finite:
        return False
    return True if told == wanted else f"read {str(told)[:80]}, wanted {str(wanted)[:80]}"


def parsed(output: bytes) -> Measurement:
    """The measurement in an output, of which the supervisor keeps the end."""
    kept = output[-LONGEST:].decode("utf-8", "backslashreplace")
    return parse(kept, whole=len(output) <= LONGEST)


def outputs(cases: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Random outputs, each with the seed that makes it again."""
    for index in range(cases):
        name = f"{seed}/{index}"
        yield name, hostile_output(random.Random(name))


def attack(cases: int, seed: int, read: Callable[[bytes], Measurement] = parsed) -> Figures:
    """Reads many hostile outputs and compares each with what its last line says."""
    figures = Figures()
    for name, output in outputs(cases, seed):
        figures.count(name, judge(output, read))
    return figures


def attack_really(cases: int, seed: int) -> Figures:
    """The same with real commands under the real supervisor."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "output"
        space = Space({"file": Categorical([str(file), "another"])})
        command = Command(Template(("cat", "{file}"), space, Path(folder), 60.0))

        def read(output: bytes) -> Measurement:
            file.write_bytes(output)
            measured = command({"file": str(file)})
            assert isinstance(measured, Measurement)
            return measured

        return attack(cases, seed, read)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--real", type=int, default=500, help="outputs of real commands")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"{'through':<10}{'outputs':>9}{'exact':>8}{'refused':>9}{'wrong':>7}")
    good = True
    for name, figures in (
        ("parser", attack(options.cases, options.seed)),
        ("outcomes", attack_outcomes(options.cases, options.seed + 2)),
        ("command", attack_really(options.real, options.seed + 1)),
    ):
        good &= figures.good
        counts = f"{figures.cases:>9}{figures.values:>8}{figures.refused:>9}{len(figures.wrong):>7}"
        print(f"{name:<10}{counts}", flush=True)
        print(*figures.wrong[:5], sep="\n", end="\n" if figures.wrong else "")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
