"""Import time of each library, and its size on disk with all it requires."""

import statistics
import subprocess
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement

from bench.process import ROOT, environment, progress

# What a user types before the first suggestion, and the packages that must be installed for it.
IMPORTS: Final = {
    "ceibo": "import ceibo, ceibo.gp, ceibo.acquisition",
    "BoTorch": "import botorch, botorch.models, botorch.acquisition, botorch.optim, botorch.fit",
    "Optuna GPSampler": (
        "import optuna; optuna.samplers.GPSampler(); import torch, scipy.stats, scipy.optimize"
    ),
}
PACKAGES: Final = {
    "ceibo": ("ceibo",),
    "BoTorch": ("botorch",),
    "Optuna GPSampler": ("optuna", "torch", "scipy"),
}
_TIMED: Final = (
    "import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
)


def collect(quick: bool) -> dict[str, Any]:
    """Import seconds (median of fresh processes) and megabytes by library."""
    progress("footprint")
    repeats = 3 if quick else 5
    rows = []
    for name, code in IMPORTS.items():
        import_seconds(code)  # puts the files of each library into memory
        closure = find_required(PACKAGES[name])
        rows.append(
            {
                "name": name,
                "import": statistics.median(import_seconds(code) for _ in range(repeats)),
                "megabytes": sum(size_on_disk(package) for package in closure) / 1e6,
                "packages": sorted(closure),
            }
        )
    return {"rows": rows}


def import_seconds(code: str) -> float:
    """Seconds that an import takes in a fresh process."""
    command = [sys.executable, "-W", "ignore", "-c", _TIMED.format(code=code)]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(None), capture_output=True, text=True, check=True
    )
    return float(done.stdout.splitlines()[-1])


def find_required(names: tuple[str, ...]) -> set[str]:
    """The packages and all that they require here, without extras, as far as installed."""
    found: set[str] = set()
    waiting = [Requirement(name) for name in names]
    while waiting:
        requirement = waiting.pop()
        name = requirement.name.lower().replace("_", "-")
        installed = _distribution(name)
        if installed is None or name in found:
            continue
        found.add(name)
        for text in installed.requires or []:
            needed = Requirement(text)
            extras = requirement.extras or {""}
            marker = needed.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(needed)
    return found


def size_on_disk(name: str) -> int:
    """Bytes of an installed package without compiled Python files; of ceibo's source."""
    installed = _distribution(name)
    files = []
    if installed is not None:
        files = [Path(str(file.locate())) for file in installed.files or []]
    if name == "ceibo":
        files = list((ROOT / "src" / "ceibo").rglob("*"))
    return sum(file.stat().st_size for file in files if file.is_file() and file.suffix != ".pyc")


def _distribution(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None
