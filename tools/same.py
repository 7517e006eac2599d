"""Whether ceibo still does the same, byte for byte: small studies, kept in a file and run again.

    python -m tools.same write FILE      runs all cases and writes what came out (FILE.gz: packed)
    python -m tools.same check FILE      runs them again; exit status 1 if anything differs
    python -m tools.same check FILE --only study-01 --jobs 2    names that begin so; two processes

The cases are in tools/same_cases.py. Floats are kept in hexadecimal. Byte identity is promised
where the libraries and the processor's features are those written in the file.
"""

import argparse
import gzip
import json
import platform
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401 - loads SciPy's BLAS, whose version is noted
from threadpoolctl import threadpool_info

import ceibo
from tools.same_cases import cases


def exact(value: Any) -> Any:
    """Plain JSON data in which a float is its hexadecimal form."""
    if isinstance(value, Mapping):
        return {str(key): exact(each) for key, each in value.items()}
    if isinstance(value, ceibo.Measurement):
        return exact([value.value, value.noise, value.replicates])
    if isinstance(value, np.ndarray | np.generic):
        return exact(value.tolist())
    if isinstance(value, list | tuple):
        return [exact(each) for each in value]
    return value.hex() if isinstance(value, float) else value


def libraries() -> dict[str, str]:
    """What decides the last bits."""
    blas = {f"{b['internal_api']} {b.get('version')} {b.get('architecture')}" for b in
            threadpool_info() if b["user_api"] == "blas"}  # fmt: skip
    names = ("numpy", "scipy", "optuna", "scikit-learn")
    simd = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    found = {"platform": machine, "blas": ", ".join(sorted(blas)), "simd": " ".join(simd)}
    return found | {name: version(name) for name in names}


def difference(was: Any, now: Any, where: str = "") -> str | None:
    """Where two outcomes differ first, or None."""
    if isinstance(was, dict) and isinstance(now, dict) and was.keys() == now.keys():
        pairs = ((was[key], now[key], f"{where}.{key}") for key in was)
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        pairs = ((a, b, f"{where}[{k}]") for k, (a, b) in enumerate(zip(was, now, strict=True)))
    else:
        return None if was == now and type(was) is type(now) else f"{where}: {was!r} -> {now!r}"
    return next((found for each in pairs if (found := difference(*each)) is not None), None)


def played(name: str) -> Any:
    """What came of the case of this name; an exception is an outcome too."""
    try:
        return exact(dict(cases())[name]())
    except Exception as error:
        return {"raised": f"{type(error).__name__}: {error}"}


def read(path: Path) -> dict[str, Any]:
    """A file that `write` wrote."""
    content = path.read_bytes()
    found: dict[str, Any] = json.loads(
        gzip.decompress(content) if path.suffix == ".gz" else content
    )
    return found


def write(path: Path, outcomes: Mapping[str, Any]) -> None:
    """Writes what came out, with the versions of the libraries."""
    text = json.dumps({"libraries": libraries(), "cases": outcomes}, separators=(",", ":")) + "\n"
    content = text.encode()
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


def compare(kept: Mapping[str, Any], outcomes: Mapping[str, Any]) -> bool:
    """Prints, case by case, whether it came out the same; true if all did."""
    changed = {
        name: (was, now)
        for name, was in kept["libraries"].items()
        if (now := libraries()[name]) != was
    }
    same = 0
    for name, now in outcomes.items():
        was = kept["cases"].get(name)
        found = "not in the file" if was is None else difference(was, now)
        same += found is None
        print(f"{name}  {'identical' if found is None else f'DIFFERENT  {found}'}")
    print(f"{same} of {len(outcomes)} cases are identical.")
    for name, (was, now) in changed.items():
        print(f"{name} differs: the file was written with {was}, here is {now}.")
    if changed:
        print("Byte identity is not promised across these.")
    return same == len(outcomes)


def main() -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.same", description=__doc__)
    parser.add_argument("verb", choices=("write", "check"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="", help="cases whose names begin so")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    given = parser.parse_args()
    kept = read(given.file) if given.verb == "check" else {}
    names = [name for name, _ in cases() if name.startswith(given.only)]
    print(f"ceibo from {Path(ceibo.__file__).parent}", file=sys.stderr)
    began = time.monotonic()
    with ProcessPoolExecutor(given.jobs) as pool:
        outcomes = dict(zip(names, pool.map(played, names), strict=True))
    print(f"{len(names)} cases in {time.monotonic() - began:.0f} s", file=sys.stderr)
    if given.verb == "write":
        write(given.file, outcomes)
        raised = {name: each["raised"] for name, each in outcomes.items() if "raised" in each}
        print("\n".join(f"{name} raised {error}" for name, error in raised.items()))
        return 1 if raised else 0
    return 0 if compare(kept, outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
