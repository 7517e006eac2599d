"""Studies of 10^4 and 10^5 trials, and of 1,000 dimensions: times, memory, size of the report.

python -m soak.scale [--trials 10000 100000] [--dimensions 1000] [--seed 0]

Each study is measured in a process of its own. Times are seconds on the clock, with processor
seconds beside them, which a busy machine changes less: a target is missed if both are above it.
"""

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, final

import numpy as np

import ceibo
from ceibo.report import render_report
from ceibo.study import Failure

# Targets: seconds, and megabytes of memory and of the report.
TARGETS: Final = {
    "open": 1.0,
    "first read": 4.0,
    "ask": 2.0,
    "best": 2.0,
    "report": 5.0,
    "report MB": 10.0,
    "memory MB": 1000.0,
    "suggestion": 2.0,
}
SPACE: Final = {
    "temp": ceibo.Float(20, 90),
    "rate": ceibo.Float(1e-5, 1e-1, log=True),
    "layers": ceibo.Int(1, 8),
    "solvent": ceibo.Categorical(["water", "ethanol", "none"]),
}


@final
@dataclass(frozen=True)
class Figure:
    """One thing measured: seconds on the clock with processor seconds, or megabytes."""

    what: str
    value: float
    processor: float | None = None

    @property
    def missed(self) -> bool:
        """Whether a target was missed, on the clock and in processor time; some have none."""
        spent = self.value if self.processor is None else min(self.value, self.processor)
        return spent > TARGETS.get(self.what, float("inf"))


def build_study(url: str | None, trials: int, seed: int, limit: int = 1000) -> ceibo.Study:
    """A bowl with noise of 0.1, told for two values of three; one trial in a hundred failed."""
    rng = np.random.default_rng(seed)
    study = ceibo.Study.create(SPACE, storage=url, seed=seed, max_observations=limit)
    U = rng.random((trials, len(SPACE)))
    y = ((U - [0.3, 0.6, 0.5, 0.2]) ** 2).sum(axis=1) + 0.1 * rng.standard_normal(trials)
    rows: list[tuple[dict[str, Any], ceibo.Measurement | Failure]] = []
    for number, (u, value) in enumerate(zip(U, y, strict=True)):
        told = ceibo.Measurement(float(value), 0.1 if number % 3 else None)
        rows.append((study.space.from_unit(u), Failure("no") if number % 100 == 7 else told))
    study.add_all(rows)
    return study


def measure_study(url: str) -> list[Figure]:
    """Opens a study, reads it, asks and tells once, and writes its report."""
    figures: list[Figure] = []

    def timed(what: str, work: Callable[[], Any]) -> Any:
        clock, processor = time.perf_counter(), time.process_time()
        result = work()
        clock, processor = time.perf_counter() - clock, time.process_time() - processor
        figures.append(Figure(what, clock, processor))
        return result

    study: ceibo.Study = timed("open", lambda: ceibo.Study.open(url))
    timed("first read", lambda: study.ledger.belief().evidence)
    timed("first best", lambda: study.best)
    trial = timed("ask", study.ask)
    timed("tell", lambda: study.tell(trial, 0.1))
    timed("best", lambda: study.best)
    timed("ask", study.ask)
    page = timed("report", lambda: render_report(study))
    figures.append(Figure("report MB", len(page.encode()) / 1e6))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures.append(Figure("memory MB", peak))
    return figures


def measure_dimensions(dimensions: int, measured: int, seed: int) -> list[Figure]:
    """One suggestion from so many measurements in so many dimensions."""
    rng = np.random.default_rng(seed)
    names = [f"x{k}" for k in range(dimensions)]
    space = {name: ceibo.Float(0, 1) for name in names}
    study = ceibo.Study.create(space, n_initial=4, seed=seed)
    rows = []
    for x in rng.random((measured, dimensions)):
        value = float(((x[:10] - 0.3) ** 2).sum() + 0.1 * rng.standard_normal())
        rows.append((dict(zip(names, x.tolist(), strict=True)), value))
    study.add_all(rows)
    clock, processor = time.perf_counter(), time.process_time()
    study.ask()
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    return [Figure("suggestion", clock, processor)]


def _child(file: Path, work: str, arguments: tuple[Any, ...]) -> None:
    found = measure_study(*arguments) if work == "study" else measure_dimensions(*arguments)
    file.write_text(json.dumps([asdict(each) for each in found]))


def in_child(folder: Path, work: str, *arguments: Any) -> list[Figure]:
    """The figures that a fresh process measured, so that its peak of memory is its own."""
    file = folder / "figures.json"
    process = multiprocessing.get_context("spawn").Process(
        target=_child, args=(file, work, arguments)
    )
    process.start()
    process.join()
    if process.exitcode != 0:
        raise SystemExit(f"the process that measures {work} {arguments} ended badly.")
    return [Figure(**each) for each in json.loads(file.read_text())]


def show(title: str, figures: list[Figure]) -> bool:
    """Prints a table; returns whether a target was missed."""
    print(f"\n{title}")
    for each in figures:
        target = TARGETS.get(each.what)
        wanted = "" if target is None else f"   target {target:g}"
        seconds = "" if each.processor is None else f" ({each.processor:.2f} of processor)"
        print(f"  {each.what:12} {each.value:9.2f}{seconds}{wanted}{' MISSED' * each.missed}")
    return any(each.missed for each in figures)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--trials", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--dimensions", type=int, nargs="*", default=[1000])
    parser.add_argument("--measured", type=int, nargs="*", default=[20, 100])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    missed = False
    with tempfile.TemporaryDirectory(prefix="ceibo-scale-") as name:
        folder = Path(name)
        for trials in options.trials:
            url = f"sqlite:///{folder / f'{trials}.db'}"
            build_study(url, trials, options.seed).close()
            missed |= show(f"{trials:,} trials", in_child(folder, "study", url))
        for dimensions in options.dimensions:
            for measured in options.measured:
                found = in_child(folder, "dimensions", dimensions, measured, options.seed)
                missed |= show(f"{dimensions:,} dimensions, {measured} measured", found)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
