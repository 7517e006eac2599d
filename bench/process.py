"""Child processes with a fixed number of BLAS threads, and what machine they ran on."""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
THREAD_VARIABLES: Final = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
PACKAGES: Final = ("numpy", "scipy", "torch", "gpytorch", "botorch", "optuna")


def environment(threads: int | None) -> dict[str, str]:
    """The environment with every thread variable set to `threads`, or with all of them unset."""
    variables = {name: value for name, value in os.environ.items() if name not in THREAD_VARIABLES}
    if threads is not None:
        variables |= dict.fromkeys(THREAD_VARIABLES, str(threads))
    return variables


def run_child(module: str, request: dict[str, Any], threads: int | None = 1) -> Any:
    """The answer of `python -m module`, in a fresh process, to a request."""
    done = subprocess.run(
        [sys.executable, "-m", module, json.dumps(request)],
        cwd=ROOT,
        env=environment(threads),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def answer(measure: Callable[[dict[str, Any]], Any]) -> None:
    """Answers, in the child: reads the request from the command line, prints the answer last."""
    print(json.dumps(measure(json.loads(sys.argv[1]))), flush=True)


def time_call(action: Callable[[], object]) -> float:
    """Seconds that one call takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def progress(text: str) -> None:
    """Prints a line about the progress on standard error."""
    print(text, file=sys.stderr, flush=True)


def describe_machine() -> dict[str, Any]:
    """Processor, cores, load at the start, and versions."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES},
        "date": time.strftime("%Y-%m-%d"),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
