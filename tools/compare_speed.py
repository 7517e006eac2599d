"""Processor time of import and suggestions, of this checkout against another, by turns.

    python -m tools.compare_speed PATH/TO/ANOTHER/CHECKOUT [--rounds N]

Both sides run in fresh processes with one BLAS thread; processor time hardly depends on what else
the machine does. Prints the medians and their ratio.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parents[1]
SIZES = ((50, 7), (150, 7), (300, 5), (1000, 2))  # observations, repeats


def measure() -> dict[str, float]:
    """Seconds of the processor for each thing that is timed, in this process."""
    began = time.process_time()
    import ceibo

    times = {"import ceibo": time.process_time() - began}
    import numpy as np

    from ceibo import acquisition
    from ceibo.gp import fit_gp

    def data(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        X = np.clip(0.4 + 0.15 * rng.standard_normal((n, 6)), 0, 1)
        slopes = np.linspace(2, 0.2, 6)
        return X, np.sum((X - 0.4) ** 2 * slopes, axis=1) + 0.1 * rng.standard_normal(n)

    for n, repeats in SIZES:
        for name in ("corrected-ei", "noisy-ei"):
            seconds = []
            for seed in range(repeats):
                X, y = data(n, seed)
                began = time.process_time()
                gp = fit_gp(X, y, np.full(n, 0.01)).gp
                acquisition.maximize(acquisition.build(name, gp, seed=seed), seed=seed)
                seconds.append(time.process_time() - began)
            times[f"suggestion, {name}, n = {n}"] = median(seconds)
    study = ceibo.Study.create({f"x{k}": ceibo.Float(0, 1) for k in range(6)}, n_initial=1)
    X, y = data(150, 0)
    for x, value in zip(X, y, strict=True):
        study.add({f"x{k}": float(u) for k, u in enumerate(x)}, float(value), noise=0.1)
    seconds = []
    for value in y[:7]:
        began = time.process_time()
        trial = study.ask()
        seconds.append(time.process_time() - began)
        study.tell(trial, float(value), noise=0.1)
    times["Study.ask, n = 150"] = median(seconds)
    return times


def run(checkout: Path) -> dict[str, float]:
    """What `measure` finds with the sources of a checkout, in a process of its own."""
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment = {**os.environ, **threads, "PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, __file__, "--measure"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Compares this checkout with another one."""
    parser = argparse.ArgumentParser(description="Speed of this checkout against another.")
    parser.add_argument("other", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure()))
        return
    if options.other is None:
        parser.error("name the other checkout")
    rounds = [(run(options.other.resolve()), run(HERE)) for _ in range(options.rounds)]
    print(f"{'':<32}{'other, ms':>10}{'this, ms':>10}{'ratio':>8}")
    for name in rounds[0][0]:
        other, this = (1e3 * median(each[side][name] for each in rounds) for side in (0, 1))
        print(f"{name:<32}{other:>10.1f}{this:>10.1f}{this / other:>8.2f}")


if __name__ == "__main__":
    main()
