"""A sweep of the paper's experiments, killed at random moments, and on other backends.

python -m soak.paper_kills        20 kills; then the same cells on joblib, Dask and Ray (if it is
                                  installed)

Its records must be those of a sweep that was never killed, with no cell run twice; every backend
must give the same.
"""

import argparse
import importlib.util
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ceibo_lab.records import read, timeless

CELLS = ["profit", "gp-samples", "--quick", "--seeds", "6"]


def sweep(out: Path, *options: str) -> list[str]:
    command = [sys.executable, "-m", "ceibo", "paper", "run", *CELLS]
    return [*command, "--out", str(out), "--jobs", "2", *options]


def records(folder: Path) -> dict[str, object]:
    return {record["key"]: timeless(record) for record in read(folder / "records").records}


def kill_often(folder: Path, kills: int, seed: int) -> int:
    """Starts and kills the sweep `kills` times, then lets it finish; returns the lines written."""
    generator = random.Random(seed)
    for _ in range(kills):
        started = subprocess.Popen(sweep(folder), stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(generator.uniform(1.0, 5.0))
        os.kill(started.pid, signal.SIGKILL)
        started.wait()
    subprocess.run(sweep(folder), stderr=subprocess.DEVNULL, check=True)
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("records/*.jsonl"))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    passed = True
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        subprocess.run(
            sweep(top / "whole", "--backend", "serial"), stderr=subprocess.DEVNULL, check=True
        )
        whole = records(top / "whole")
        lines = kill_often(top / "killed", options.kills, options.seed)
        same = records(top / "killed") == whole
        passed &= same and lines == len(whole)
        print(
            f"{options.kills} kills: {len(whole)} cells, {lines} lines written, identical: {same}",
            flush=True,
        )
        for backend, package in (
            ("processes", "os"),
            ("loky", "joblib"),
            ("dask", "distributed"),
            ("ray", "ray"),
        ):
            if importlib.util.find_spec(package) is None:
                print(f"{backend}: {package} is not installed, not run", flush=True)
                continue
            subprocess.run(
                sweep(top / backend, "--backend", backend), stderr=subprocess.DEVNULL, check=True
            )
            same = records(top / backend) == whole
            passed &= same
            print(f"{backend}: identical: {same}", flush=True)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
