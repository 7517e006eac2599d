"""Studies killed and reopened suggest byte for byte what an unbroken study suggests.

100 studies run in a child process that is killed with SIGKILL at a random moment, again and again,
and started afresh until the study is complete; its suggestions are compared with those of a study
that was never killed, and verified.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import final

import ceibo
from ceibo.decide.dimensions import Dimension
from ceibo.decide.space import Params
from soak.children import Diary, fork

SPACE: dict[str, Dimension] = {
    "x": ceibo.Float(0, 1),
    "rate": ceibo.Float(1e-4, 1, log=True),
    "c": ceibo.Categorical(["a", "b"]),
}
LEASE = 0.3  # seconds: the trial of a killed child is handed out again after that


def objective(params: Params) -> ceibo.Measurement:
    """A bowl with noise that is the same whenever a setting is measured."""
    values = random.Random(repr(sorted(params.items())))
    x, rate = float(params["x"] or 0), float(params["rate"] or 0)
    level = (x - 0.3) ** 2 + abs(rate - 0.01) ** 0.2 + (0.1 if params["c"] == "a" else 0.0)
    return ceibo.Measurement(level + values.gauss(0, 0.05), noise=0.05)


def work(url: str | None, seed: int, trials: int) -> ceibo.Study:
    """Runs a study to its end, or goes on with it."""
    return ceibo.minimize(
        objective, SPACE, n_trials=trials, seed=seed, storage=url, lease=LEASE
    ).study


@final
@dataclass(frozen=True)
class Resumed:
    """Figures of one study."""

    kills: int
    trials: int
    identical: int  # trials whose setting is that of the unbroken study, to the last bit
    verified: int


def disturb(folder: Path, seed: int, trials: int, chances: random.Random) -> Resumed:
    """Kills a study's process three times at random moments, and then completes the study."""
    url, diary = f"sqlite:///{folder / f'{seed}.db'}", Diary(folder / f"{seed}.diary")
    unbroken = work(None, seed, trials)
    kills = 0
    while True:
        pid = fork(lambda: work(url, seed, trials).close(), diary)
        if kills < 3:
            time.sleep(chances.uniform(0.02, 0.4))
            os.kill(pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status == 0:
            break
        if status != -signal.SIGKILL:
            raise RuntimeError("\n".join(diary.lines()))
        kills += 1
        time.sleep(LEASE + 0.05)
    broken = ceibo.Study.open(url)
    same = sum(a.params == b.params for a, b in zip(unbroken.trials, broken.trials, strict=True))
    verification = broken.verify()
    broken.close()
    return Resumed(kills, trials, same, verification.identical)


def crowd(folder: Path, workers: int, trials: int) -> ceibo.study.Verification:
    """A study worked on by several processes at once, verified."""
    url = f"sqlite:///{folder / 'crowd.db'}"
    diary = Diary(folder / "crowd.diary")
    pids = [fork(lambda: work(url, 0, trials).close(), diary) for _ in range(workers)]
    for pid in pids:
        if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0:
            raise RuntimeError("\n".join(diary.lines()))
    study = ceibo.Study.open(url)
    if len(study.trials) != trials:
        raise RuntimeError(f"{trials} trials were asked for, {len(study.trials)} were made")
    found = study.verify()
    study.close()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--trials", type=int, default=14)
    parser.add_argument("--workers", type=int, default=8)
    options = parser.parse_args()
    chances, begin = random.Random(0), time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        resumed = [
            disturb(folder, seed, options.trials, chances) for seed in range(options.studies)
        ]
        kills, trials, identical, verified = (
            sum(getattr(each, part) for each in resumed)
            for part in ("kills", "trials", "identical", "verified")
        )
        print(
            f"{'studies':>16}{'kills':>7}{'trials':>8}{'byte for byte':>15}{'verified':>10}{'s':>6}"
        )
        print(f"{options.studies:>16}{kills:>7}{trials:>8}{identical:>15}{verified:>10}", end="")
        print(f"{time.perf_counter() - begin:>6.0f}", flush=True)
        begin = time.perf_counter()
        found = crowd(folder, options.workers, 10 * options.workers)
        label = f"1, {options.workers} workers"
        print(f"{label:>16}{0:>7}{10 * options.workers:>8}{'':>15}{found.identical:>10}", end="")
        print(f"{time.perf_counter() - begin:>6.0f}")
    passed = identical == verified == trials and found.ok and found.identical == found.checked
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
