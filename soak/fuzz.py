"""A hundred thousand random cases: nothing unexpected, nothing that hangs, nothing wrong.

python -m soak.fuzz                            all kinds
python -m soak.fuzz --only report --cases 200  one kind
python -m soak.fuzz --only engine --case 61    one case, with its traceback

Each case is a function of its kind and its number. It is accepted and right ("ok"), or refused with
an error that ceibo raises on purpose. Anything else is counted as unexpected (another exception),
as hanging (more than 10 s of processor time, or 60 s on the clock of a busy machine), or as wrong
(a suggestion out of the box, a stored value that differs, a page that cannot be read).
"""

import argparse
import faulthandler
import functools
import os
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from types import FrameType
from typing import Final, final

from soak.fuzz_files import study_file
from soak.fuzz_lines import line, process
from soak.fuzz_outputs import output
from soak.fuzz_several import several
from soak.fuzz_sheets import sheet
from soak.fuzz_studies import WrongError, engine, report

PROCESSOR_SECONDS, CLOCK_SECONDS = 10.0, 60.0
_GIVEN_UP: Final = 300.0  # seconds after which a case that cannot be interrupted ends its process
_CHUNK: Final = 50


@final
@dataclass(frozen=True)
class Kind:
    """A kind of case: what runs one, and how many there are by default."""

    run: Callable[[int], str]
    cases: int


KINDS: Final = {
    "file": Kind(study_file, 20_000),
    "sheet": Kind(sheet, 29_000),
    "output": Kind(output, 30_000),
    "line": Kind(line, 9_700),
    "process": Kind(process, 300),
    "engine": Kind(engine, 7_000),
    "report": Kind(report, 3_000),
    "several": Kind(several, 1_000),
}


@final
class HangError(BaseException):
    """A case took too long; no `except Exception` stops it."""


@final
@dataclass(frozen=True)
class Figures:
    """What became of the cases of a kind; `faults` are (number, what) of all that is not right."""

    kind: str
    seconds: float
    counts: Counter[str]
    faults: tuple[tuple[int, str], ...]

    @property
    def passed(self) -> bool:
        return not self.faults

    def __str__(self) -> str:
        names = ("ok", "refused", "unexpected", "hang", "wrong")
        counts = "".join(f"{self.counts[name]:>12,}" for name in names)
        return f"{self.kind:<10}{sum(self.counts.values()):>8,}{self.seconds:>8.0f} s{counts}"


HEAD: Final = (
    f"{'kind':<10}{'cases':>8}{'time':>10}{'ok':>12}{'refused':>12}{'unexpected':>12}"
    f"{'hang':>12}{'wrong':>12}"
)


def run_case(kind: str, number: int) -> tuple[str, str]:
    """What became of one case, and what was wrong with it."""
    try:
        with watched():
            return KINDS[kind].run(number), ""
    except HangError:
        return "hang", f"more than {PROCESSOR_SECONDS:g} s"
    except WrongError as error:
        return "wrong", str(error)
    except Exception as error:
        return "unexpected", f"{type(error).__name__}: {error}"


@contextmanager
def watched() -> Iterator[None]:
    """Interrupts what takes too long, and ends the process if that does not help."""

    def give_up(_signal: int, _frame: FrameType | None) -> None:
        raise HangError

    before = [(each, signal.signal(each, give_up)) for each in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, PROCESSOR_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, CLOCK_SECONDS)
    faulthandler.dump_traceback_later(_GIVEN_UP, exit=True, file=2)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for each, handler in before:
            signal.signal(each, handler)


def run_chunk(kind: str, first: int, last: int) -> list[tuple[int, str, str]]:
    """The cases first … last − 1: (number, what became of it, what was wrong)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)  # numpy's, of numbers that went astray
        return [(number, *run_case(kind, number)) for number in range(first, last)]


def fuzz(kind: str, cases: int, seed: int = 0, jobs: int = 1) -> Figures:
    """Runs the cases `seed` … `seed + cases − 1` of a kind, in so many processes."""
    begin = time.perf_counter()
    starts = range(seed, seed + cases, _CHUNK)
    ends = [min(start + _CHUNK, seed + cases) for start in starts]
    one_kind = functools.partial(run_chunk, kind)
    if jobs == 1:
        done = [one_kind(start, end) for start, end in zip(starts, ends, strict=True)]
    else:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            done = list(pool.map(one_kind, starts, ends))
    results = [each for chunk in done for each in chunk]
    counts = Counter(outcome for _, outcome, _ in results)
    faults = tuple((number, f"{outcome}: {what}") for number, outcome, what in results if what)
    return Figures(kind, time.perf_counter() - begin, counts, faults)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--only", choices=KINDS, action="append", help="a kind; all by default")
    parser.add_argument("--cases", type=int, help="of each kind; 100,000 in all by default")
    parser.add_argument("--seed", type=int, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--case", type=int, help="one case of --only, with its traceback")
    options = parser.parse_args()
    kinds = options.only or list(KINDS)
    if options.case is not None:
        for kind in kinds:
            print(kind, options.case, KINDS[kind].run(options.case))
        return 0
    print(HEAD, flush=True)
    faults = 0
    for kind in kinds:
        cases = KINDS[kind].cases if options.cases is None else options.cases
        figures = fuzz(kind, cases, options.seed, options.jobs)
        print(figures, flush=True)
        for number, what in figures.faults[:20]:
            shown = what.replace("\n", " | ")[:300]
            print(f"   python -m soak.fuzz --only {kind} --case {number}   # {shown}", flush=True)
        faults += len(figures.faults)
    print("nothing unexpected, no hang, nothing wrong" if not faults else f"{faults} faults")
    return 0 if not faults else 1


if __name__ == "__main__":
    sys.exit(main())
