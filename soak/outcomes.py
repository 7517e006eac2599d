"""Studies of several outcomes, killed and reopened, suggest what an unbroken study suggests.

    limits   one goal, two limits
    goals    two goals and a limit
    watch    one goal and a watched outcome
    partial  limits, of which one is told by another process, later than the goal

Studies of each kind run in a child process that is killed with SIGKILL at random moments and
started afresh until the study is complete; settings and records of its suggestions are compared,
byte for byte, with those of a study that was never killed, and verified.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import ceibo
from ceibo.decide.outcomes import Outcome
from soak.children import Diary, fork

SPACE = {"x": ceibo.Float(0, 1), "rate": ceibo.Float(1e-4, 1, log=True)}
KINDS: Mapping[str, Mapping[str, Outcome]] = {
    "limits": {
        "yield": ceibo.Maximize(low=0, high=100),
        "impurity": ceibo.AtMost(1.5),
        "purity": ceibo.AtLeast(0.2),
    },
    "goals": {"yield": ceibo.Maximize(), "cost": ceibo.Minimize(), "impurity": ceibo.AtMost(2.0)},
    "watch": {"yield": ceibo.Maximize(), "colour": ceibo.Watch()},
    "partial": {"yield": ceibo.Maximize(), "impurity": ceibo.AtMost(1.5)},
}
INITIAL = 4
LEASE = 0.3  # seconds: the trial of a killed child is handed out again after that


def measure(params: Mapping[str, Any]) -> dict[str, ceibo.Measurement]:
    """Outcomes with noise that is the same whenever a setting is measured."""
    noise = random.Random(repr(sorted(params.items())))
    x, rate = float(params["x"]), float(params["rate"])
    level = 80 - 50 * (x - 0.6) ** 2 - 20 * abs(rate - 0.01) ** 0.3
    return {
        "yield": ceibo.Measurement(level + noise.gauss(0, 0.5), noise=0.5),
        "impurity": ceibo.Measurement(3 * x + noise.gauss(0, 0.05)),
        "purity": ceibo.Measurement.of([1 - x + noise.gauss(0, 0.05) for _ in range(2)]),
        "cost": ceibo.Measurement(10 * x**2 + rate + noise.gauss(0, 0.1)),
        "colour": ceibo.Measurement(x * rate),
    }


def work(kind: str, url: str | None, seed: int, trials: int) -> ceibo.Study:
    """Runs a study to its end, or goes on with it."""
    outcomes = KINDS[kind]

    def objective(params: dict[str, Any]) -> dict[str, ceibo.Measurement]:
        told = measure(params)
        now = ("yield",) if kind == "partial" else tuple(outcomes)
        return {name: told[name] for name in now}

    def tell_later(study: ceibo.Study, trial: ceibo.Trial) -> None:
        study.tell(trial.number, {"impurity": measure(trial.params)["impurity"]})

    def catch_up(study: ceibo.Study) -> None:
        """Tells what a process that was killed had not told yet, as its successor would."""
        for trial in study.trials:
            if trial.state == "running" and trial.names == ("yield",):
                tell_later(study, trial)

    later = (tell_later,) if kind == "partial" else ()
    options: dict[str, Any] = {"seed": seed, "n_initial": INITIAL, "storage": url, "lease": LEASE}
    if kind == "partial" and url is not None:
        try:
            study = ceibo.Study.open(url)
        except ceibo.CeiboError:  # not begun yet
            pass
        else:
            catch_up(study)
            study.close()
    return ceibo.optimize(
        objective, SPACE, outcomes, n_trials=trials, callbacks=later, **options
    ).study


def unbroken(kind: str, seed: int, trials: int) -> ceibo.Study:
    """The same study in memory, never interrupted."""
    return work(kind, None, seed, trials)


@final
@dataclass(frozen=True)
class Resumed:
    """Figures of one study."""

    kills: int
    trials: int
    identical: int  # trials whose setting is that of the unbroken study, to the last bit
    verified: int


def disturb(folder: Path, kind: str, seed: int, trials: int, chances: random.Random) -> Resumed:
    """Kills a study's process three times at random moments, and then completes the study."""
    url = f"sqlite:///{folder / f'{kind}-{seed}.db'}"
    diary = Diary(folder / f"{kind}-{seed}.diary")
    whole = unbroken(kind, seed, trials)
    kills = 0
    while True:
        pid = fork(lambda: work(kind, url, seed, trials).close(), diary)
        if kills < 3:
            time.sleep(chances.uniform(0.02, 0.8))
            os.kill(pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status == 0:
            break
        if status != -signal.SIGKILL:
            raise RuntimeError("\n".join(diary.lines()))
        kills += 1
        time.sleep(LEASE + 0.05)
    broken = ceibo.Study.open(url)
    pairs = zip(whole.trials, broken.trials, strict=True)
    same = sum(a.params == b.params for a, b in pairs)
    verification = broken.verify()
    broken.close()
    whole.close()
    return Resumed(kills, trials, same, verification.identical)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=100, help="of each kind")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    heads = ("studies", "kills", "trials", "identical", "verified", "s")
    print(f"{'kind':<10}" + "".join(f"{head:>10}" for head in heads))
    passed = True
    with tempfile.TemporaryDirectory() as name:
        for kind in options.kinds:
            chances, begin = random.Random(f"{options.seed}/{kind}"), time.perf_counter()
            seeds = range(options.seed, options.seed + options.studies)
            resumed = [disturb(Path(name), kind, seed, options.trials, chances) for seed in seeds]
            counts = [
                sum(getattr(each, part) for each in resumed)
                for part in ("kills", "trials", "identical", "verified")
            ]
            figures = [options.studies, *counts, round(time.perf_counter() - begin)]
            print(f"{kind:<10}" + "".join(f"{figure:>10}" for figure in figures), flush=True)
            passed &= counts[1] == counts[2] == counts[3]
    if not passed:
        print(f"missed; to repeat: python -m soak.outcomes --seed {options.seed}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
