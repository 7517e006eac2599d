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
import tempfile
import time
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parents[1]
STEPS = 15  # suggestions and tells of a study
SIZES = ((50, 7), (150, 7), (300, 5), (1000, 2))  # observations, repeats


def measure() -> dict[str, float]:
    """Seconds of the processor for each thing that is timed, in this process."""
    began = time.process_time()
    import ceibo

    _ = ceibo.Study  # names are imported when they are first used
    times = {"import ceibo.Study": time.process_time() - began}
    import numpy as np

    from ceibo import acquisition
    from ceibo.gp import fit_gp

    slopes = np.linspace(2, 0.2, 6)

    def data(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        X = np.clip(0.4 + 0.15 * rng.standard_normal((n, 6)), 0, 1)
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
    space = {f"x{k}": ceibo.Float(0, 1) for k in range(6)}
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/study.db"
        study = ceibo.Study.create(space, storage=url, name="speed", n_initial=1)
        X, y = data(150, 0)
        for x, value in zip(X, y, strict=True):
            study.add(dict(zip(space, map(float, x), strict=True)), float(value), noise=0.1)
        rng, asking, telling = np.random.default_rng(7), [], []
        for _ in range(STEPS):
            began = time.process_time()
            trial = study.ask()
            asking.append(time.process_time() - began)
            x = np.array([trial.params[name] for name in space])
            value = float(np.sum((x - 0.4) ** 2 * slopes) + 0.1 * rng.standard_normal())
            began = time.process_time()
            study.tell(trial, value, noise=0.1)
            telling.append(time.process_time() - began)
        study.close()
    times["Study.ask, n = 150"] = median(asking)
    times["Study.tell, n = 150"] = median(telling)
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
