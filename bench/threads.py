"""BLAS threads: the table behind ceibo.gp.linalg.blas_threads, and whether ceibo's speed depends on the setting.

`python -m bench.threads` prints the first: seconds of a Cholesky factor and inverse with one thread and with two.
"""

import statistics
import sys
from typing import Any, Final

from threadpoolctl import threadpool_limits

from bench.process import answer, progress, run_child
from bench.scaling import suggest
from bench.speed import factorization_seconds
from ceibo.gp.linalg import blas_threads

SIZES: Final = (50, 100, 150, 200, 300, 400, 500, 700, 1000, 1500, 2000, 3000)
SUGGESTION_SIZES: Final = (50, 150, 300)


def collect(quick: bool) -> dict[str, Any]:
    """Suggestion time in processes started with one BLAS thread and with the default; they take turns."""
    sizes = [n for n in SUGGESTION_SIZES if not quick or n <= 150]
    request = {"sizes": sizes, "repeats": 5 if quick else 15}
    seconds: dict[str, list[dict[str, float]]] = {"one": [], "default": []}
    for turn in range(1 if quick else 3):
        progress(f"threads: turn {turn + 1}")
        seconds["one"].append(run_child("bench.threads", request, threads=1))
        seconds["default"].append(run_child("bench.threads", request, threads=None))
    rows = []
    for n in sizes:
        one, default = (statistics.median(turn[str(n)] for turn in seconds[name]) for name in ("one", "default"))
        rows.append({"n": n, "one": one, "default": default, "ratio": default / one})
    return {"rows": rows}


def measure(request: dict[str, Any]) -> dict[str, float]:
    """The child's work: median seconds of a suggestion by n."""
    suggest(20, 0)
    return {
        str(n): statistics.median(sum(suggest(n, repeat % 3)) for repeat in range(request["repeats"]))
        for n in request["sizes"]
    }


def factorization_table() -> str:
    """Markdown: n, seconds with one and with two threads, and what ceibo uses."""
    lines = ["| n | 1 thread, ms | 2 threads, ms | 1 / 2 | ceibo uses |", "|--:|--:|--:|--:|--:|"]
    for n in SIZES:
        seconds = []
        for threads in (1, 2):
            with threadpool_limits(threads):
                seconds.append(factorization_seconds(n, repeats=max(3, 20000 // n)))
        lines.append(
            f"| {n} | {1e3 * seconds[0]:.3g} | {1e3 * seconds[1]:.3g} "
            f"| {seconds[0] / seconds[1]:.2f} | {blas_threads(n)} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        answer(measure)
    else:
        print(factorization_table())
