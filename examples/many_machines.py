"""Many machines share one study: each runs the same command with the same storage.

python many_machines.py [STORAGE]

On real machines the storage is a PostgreSQL server that all of them reach, and `ceibo run` is
started on each, by hand or by a scheduler; a machine may join, leave or crash at any time. Here
three processes stand for three machines, and without an argument they share a file, which is fine
on one computer.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

STUDY = """
name = "shared"
[space]
x = {{type = "float", low = -2, high = 2}}
y = {{type = "float", low = -2, high = 2}}
[command]
argv = [{python!r}, "slow.py", "{{x}}", "{{y}}"]
timeout = 60
[stop]
trials = 24
"""
SLOW = """
import random, sys, time
x, y = map(float, sys.argv[1:])
time.sleep(0.2)
print((x - 1) ** 2 + (y + 0.5) ** 2 + random.gauss(0, 0.1), 0.1)
"""
MACHINES = 3


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "study.toml").write_text(STUDY.format(python=sys.executable))
        (folder / "slow.py").write_text(SLOW)
        storage = ["--storage", sys.argv[1]] if len(sys.argv) > 1 else []
        ceibo = [sys.executable, "-m", "ceibo"]
        machines = [
            subprocess.Popen(
                [*ceibo, "run", "study.toml", "--quiet", *storage],
                cwd=folder,
                stdout=subprocess.DEVNULL,
            )
            for _ in range(MACHINES)
        ]
        for machine in machines:
            if machine.wait() != 0:
                raise SystemExit("a machine failed")
        subprocess.run([*ceibo, "best", "study.toml", *storage], cwd=folder, check=True)


if __name__ == "__main__":
    main()
