"""BLAS threads: the table behind ceibo.gp.linalg.blas_threads, and their effect on speed.

`python -m bench.threads` prints the first: seconds of a Cholesky factor and inverse with one thread
and with two.
"""

import statistics
import sys
from typing import Any, Final

from threadpoolctl import threadpool_limits

from bench.process import answer, progress, run_child
from bench.scaling import suggest
from bench.speed import factorization_times
from ceibo.gp.linalg import blas_threads

SIZES: Final = (50, 100, 150, 200, 300, 400, 500, 700, 1000, 1500, 2000, 3000)
SUGGESTION_SIZES: Final = (50, 150, 300)


def collect(quick: bool) -> dict[str, Any]:
    """Suggestion time with one BLAS thread and with the default, in processes that take turns."""
    sizes = [n for n in SUGGESTION_SIZES if not quick or n <= 150]
    request = {"sizes": sizes, "repeats": 5 if quick else 15}
    seconds: dict[str, list[dict[str, float]]] = {"one": [], "default": []}
    for turn in range(1 if quick else 3):
        progress(f"threads: turn {turn + 1}")
        seconds["one"].append(run_child("bench.threads", request, threads=1))
        seconds["default"].append(run_child("bench.threads", request, threads=None))
    rows = []
    for n in sizes:
        one, default = (
            statistics.median(turn[str(n)] for turn in seconds[name]) for name in ("one", "default")
        )
        rows.append({"n": n, "one": one, "default": default, "ratio": default / one})
    return {"rows": rows}


def measure(request: dict[str, Any]) -> dict[str, float]:
    """The child's work: median seconds of a suggestion by n."""
    suggest(20, 0)
    return {
        str(n): statistics.median(
            sum(suggest(n, repeat % 3)) for repeat in range(request["repeats"])
        )
        for n in request["sizes"]
    }


def factorization_table() -> str:
    """Markdown table by n: milliseconds with one and two threads, and what ceibo uses."""
    lines = [
        "| n | 1 thread | 2 threads | 1 / 2 by median | by minimum | ceibo uses |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    for n in SIZES:
        cells, medians, minima = [], [], []
        for threads in (1, 2):
            with threadpool_limits(threads):
                seconds = factorization_times(n, repeats=max(5, 40000 // n))
            medians.append(statistics.median(seconds))
            minima.append(min(seconds))
            cells.append(f"{1e3 * medians[-1]:.3g} ({1e3 * minima[-1]:.3g})")
        ratios = (f"{values[0] / values[1]:.2f}" for values in (medians, minima))
        lines.append("| " + " | ".join([str(n), *cells, *ratios, str(blas_threads(n))]) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        answer(measure)
    else:
        print(factorization_table())
