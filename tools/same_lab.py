"""Runs cells of the laboratory again and compares every bit with what they gave before.

    python -m tools.same_lab tools/lab_baseline.json [--only PREFIX] [--jobs N]

The file holds cells with the digest of what was measured and a checksum of the whole trace. Byte
identity is promised on one machine with one set of library versions; the file says which.
"""

import argparse
import hashlib
import json
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def compare(entry: dict[str, Any]) -> tuple[str, str]:
    """The key of a cell, and "identical" or how its record differs."""
    from ceibo_lab.record import Cell
    from ceibo_lab.replicate import replicate

    cell = Cell(**entry["cell"])
    if cell.key != entry["key"]:
        return entry["key"], f"its key is {cell.key} now"
    record = replicate(cell)
    if record is None or record["status"] != "done":
        return entry["key"], f"failed: {(record or {}).get('error')}"
    if record["digest"] != entry["digest"]:
        return entry["key"], "other measurements"
    text = json.dumps(record["trace"], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    same = hashlib.sha256(text.encode()).hexdigest() == entry["trace_sha256"]
    return entry["key"], "identical" if same else "the same measurements, another trace"


def main() -> int:
    """Compares all cells; the exit status is 1 if one differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="", help="experiments whose names begin so")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    for name in _THREADS:
        os.environ[name] = "1"
    data = json.loads(options.file.read_text(encoding="utf-8"))
    cells = [each for each in data["cells"] if each["experiment"].startswith(options.only)]
    from ceibo.decide.record import versions

    if versions() != data["about"]["versions"]:
        print(f"Other libraries than the file's, so bits may differ: {versions()}")
    differing = 0
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for key, outcome in pool.map(compare, cells):
            differing += outcome != "identical"
            if outcome != "identical":
                print(f"{key}: {outcome}", flush=True)
    print(f"{len(cells) - differing} of {len(cells)} cells are identical.")
    return int(differing > 0)


if __name__ == "__main__":
    raise SystemExit(main())
