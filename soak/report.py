"""The report of a large study, 1,000 trials of 12 parameters: its time and its size.

python -m soak.report

The target of 10 seconds is for processor time, which a busy machine changes little; seconds on the
clock are printed with the load.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import ceibo
from ceibo.report import write_report

TRIALS, PARAMETERS = 1000, 12
SECONDS, MEGABYTES = 10.0, 8.0


def large_study() -> ceibo.Study:
    """A bowl with noise of 0.1, measured around its minimum, as a long search leaves it."""
    rng = np.random.default_rng(1)
    X = np.clip(0.4 + 0.2 * rng.standard_normal((TRIALS, PARAMETERS)), 0, 1)
    y = ((X - 0.4) ** 2 * np.linspace(3, 0.05, PARAMETERS)).sum(axis=1) + 0.1 * rng.standard_normal(
        TRIALS
    )
    names = [f"p{k}" for k in range(PARAMETERS)]
    study = ceibo.Study.create({name: ceibo.Float(0, 1) for name in names})
    study.add_all(
        (dict(zip(names, x.tolist(), strict=True)), ceibo.Measurement(float(value), 0.1))
        for x, value in zip(X, y, strict=True)
    )
    return study


def measure(folder: Path) -> tuple[float, float, float]:
    """Processor seconds, seconds on the clock, megabytes; report.html stays in the folder."""
    study = large_study()
    processor, clock = time.process_time(), time.perf_counter()
    write_report(study, folder / "report.html", cost=0.01)
    processor, clock = time.process_time() - processor, time.perf_counter() - clock
    return processor, clock, (folder / "report.html").stat().st_size / 1e6


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="ceibo-report-") as folder:
        processor, clock, size = measure(Path(folder))
    print(
        f"report of {TRIALS:,} trials x {PARAMETERS} parameters: {processor:.1f} s of processor"
        f" time (target {SECONDS:g}), {clock:.1f} s on the clock at load {os.getloadavg()[0]:.1f},"
        f" {size:.2f} MB (target {MEGABYTES:g})"
    )
    return 0 if processor < SECONDS and size < MEGABYTES else 1


if __name__ == "__main__":
    sys.exit(main())
