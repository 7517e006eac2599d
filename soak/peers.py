"""Whether each outside tool runs in the environment that `make peers` made for it.

    python -m soak.peers [NAME ...]

A short run on a problem of the suite by each tool; its record must be finished, and name the tool's
packages. A tool without an environment is named, and counts as missed if it was asked for.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from ceibo_lab.methods.peers import PEERS
from ceibo_lab.records import read

ENVIRONMENTS: Final = Path(__file__).resolve().parents[1] / ".venv-peers"


def fault_of(name: str, folder: Path) -> str:
    """What is wrong with a tool; empty if nothing is."""
    if not (ENVIRONMENTS / name / ".done").exists():
        return "no environment; `make peers` makes it"
    program = [str(ENVIRONMENTS / name / "bin/ceibo"), "paper", "run", "suite-locked", "--quick"]
    wanted = ["--method", name, "--problem", "branin", "--noise", "homoscedastic", "--seed", "0"]
    command = [*program, *wanted, "--jobs", "1", "--out", str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        return ended.stderr.strip().rpartition("\n")[2]
    (record,) = read(folder / "records").records
    if record["status"] != "done":
        return str(record.get("error", record["status"]))
    if record["settings"].keys() != {*PEERS[name].packages}:
        return f"the record names {', '.join(record['settings'])}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*PEERS, []])
    names = parser.parse_args().names
    faults = 0
    for name in names or PEERS:
        with tempfile.TemporaryDirectory() as folder:
            fault = fault_of(name, Path(folder))
        is_absent = fault.startswith("no environment")
        faults += bool(fault) and (bool(names) or not is_absent)
        print(f"{name}: {fault or 'runs'}", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
