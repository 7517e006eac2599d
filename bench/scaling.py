"""ceibo alone as the data grow: seconds per cold suggestion and the exponent of their growth."""

import statistics
from typing import Any, Final

import numpy as np

from bench.data import noisy_function
from bench.process import answer, progress, run_child, time_call
from ceibo import acquisition
from ceibo.gp import fit_gp

SIZES: Final = (100, 200, 300, 500, 1000, 2000, 3000)
QUICK_SIZES: Final = (50, 100, 150)


def collect(quick: bool) -> dict[str, Any]:
    """Rows of n and seconds, and the log-log slope over all of them and over the larger half."""
    rows = run_child("bench.scaling", {"sizes": QUICK_SIZES if quick else SIZES}, threads=None)
    half = rows[len(rows) // 2 :]
    return {"rows": rows, "exponent": slope(rows), "exponent_larger": slope(half)}


def measure(request: dict[str, Any]) -> list[dict[str, float]]:
    """The child's work, with ceibo's own choice of BLAS threads."""
    suggest(20, 0)
    rows = []
    for n in request["sizes"]:
        progress(f"scaling: n = {n}")
        parts = [suggest(n, seed) for seed in range(3)]
        fit, maximise = (statistics.median(part[k] for part in parts) for k in (0, 1))
        total = statistics.median(part[0] + part[1] for part in parts)
        rows.append({"n": n, "fit": fit, "maximise": maximise, "total": total})
    return rows


def suggest(n: int, seed: int) -> tuple[float, float]:
    """Seconds of the fit and of the maximisation of corrected EI."""
    data = noisy_function(n, seed)
    results = []
    fit = time_call(lambda: results.append(fit_gp(data.X, data.y, data.noise)))
    maximise = time_call(
        lambda: acquisition.maximize(acquisition.build("corrected-ei", results[0].gp))
    )
    return fit, maximise


def slope(rows: list[dict[str, float]]) -> float:
    """Slope of log seconds over log n."""
    logs = np.log([[row["n"], row["total"]] for row in rows])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


if __name__ == "__main__":
    answer(measure)
