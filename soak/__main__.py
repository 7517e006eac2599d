"""Every endurance check in turn (`make soak`); exits with 1 if one missed its target."""

import subprocess
import sys
import time

CHECKS = (
    "kills",
    "damage",
    "concurrency",
    "resume",
    "machine",
    "noise",
    "cost",
    "mixed",
    "failures",
    "overhead",
    "report",
    "cli_hostile",
    "cli_children",
    "cli_kills",
    "signals",
    "outputs",
    "fairness",
    "clocks",
    "paper_kills",
    "optuna_parallel",
    "optuna_ray",
)


def main() -> int:
    missed = []
    for name in CHECKS:
        print(f"\n== soak.{name}", flush=True)
        begin = time.perf_counter()
        if subprocess.run([sys.executable, "-m", f"soak.{name}"]).returncode != 0:
            missed.append(name)
        print(f"   {time.perf_counter() - begin:.0f} s", flush=True)
    print(f"\nmissed: {', '.join(missed)}" if missed else "\nall targets met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
