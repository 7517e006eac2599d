"""Workers that compute suggestions at different speeds share a study's trials.

Four processes ask and tell; one takes five times as long for a suggestion. Its fair share is a
quarter of the trials, and it must get at least half of that. Every trial is told once, and the
suggestions computed are counted: those that another worker was quicker than are computed in vain.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from ceibo import Float, Study
from ceibo.study.deciding import Decider, Suggested
from soak.children import Diary, fork
from soak.server import running_server

SPACE = {"x": Float(0, 1), "y": Float(0, 1)}


@final
@dataclass(frozen=True)
class Shares:
    """What each worker got, and what it cost."""

    trials: tuple[int, ...]
    computed: int
    seconds: float
    errors: list[str]

    @property
    def total(self) -> int:
        return sum(self.trials)

    @property
    def slowest_share(self) -> float:
        """The last worker's trials over its fair share."""
        return self.trials[-1] * len(self.trials) / max(self.total, 1)


def share(url: str, folder: Path, suggesting: Sequence[float], trials: int) -> Shares:
    """Lets one worker per time of `suggesting` (seconds per suggestion) share `trials` trials."""
    Study.create(SPACE, storage=url, n_initial=trials).close()
    begin = time.perf_counter()
    diaries = [Diary(folder / f"fairness-{index}") for index in range(len(suggesting))]
    pids = [
        fork(lambda diary=diary, wait=wait: _work(url, diary, wait, trials), diary)  # type: ignore[misc]  # mypy: lambda default
        for diary, wait in zip(diaries, suggesting, strict=True)
    ]
    for pid in pids:
        os.waitpid(pid, 0)
    counts = [Counter(line.split()[0] for line in diary.lines()) for diary in diaries]
    return Shares(
        trials=tuple(count["told"] for count in counts),
        computed=sum(count["computed"] for count in counts),
        seconds=time.perf_counter() - begin,
        errors=[line for diary in diaries for line in diary.read()[1]],
    )


def _work(url: str, diary: Diary, wait: float, trials: int) -> None:
    """Asks and tells until the study has its trials; each suggestion takes `wait` seconds."""
    suggest = Decider.suggest

    def slowly(self: Decider, *arguments: Any, **options: Any) -> Suggested:
        time.sleep(wait)
        diary.write("computed")
        return suggest(self, *arguments, **options)

    setattr(Decider, "suggest", slowly)  # noqa: B010 - in this child alone
    study = Study.open(url)
    while (trial := study.asking.ask(None, trials)) is not None:
        study.tell(trial.number, trial.params["x"])
        diary.write(f"told {trial.number}")
    study.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=120)
    parser.add_argument("--suggesting", type=float, default=0.1, help="seconds of the quick ones")
    parser.add_argument("--no-postgresql", action="store_true")
    options = parser.parse_args()
    quick = options.suggesting
    print(f"{'database':<12}{'workers':<18}{'trials of each':<20}{'slowest/fair':>13}", end="")
    print(f"{'computed/trial':>16}{'s':>7}")
    good = True
    databases = ("SQLite",) if options.no_postgresql else ("SQLite", "PostgreSQL")
    with (
        tempfile.TemporaryDirectory() as name,
        nullcontext() if options.no_postgresql else running_server() as server,
    ):
        for database in databases:
            for kind, speeds in (
                ("equal", [quick] * 4),
                ("one 5x slower", [*[quick] * 3, 5 * quick]),
            ):
                folder = Path(name) / database / kind
                folder.mkdir(parents=True)
                url = f"sqlite:///{folder / 'study.db'}"
                if server is not None and database == "PostgreSQL":
                    url = server.new_database()
                shares = share(url, folder, speeds, options.trials)
                listed = "/".join(map(str, shares.trials))
                print(f"{database:<12}{kind:<18}{listed:<20}{shares.slowest_share:>13.2f}", end="")
                print(f"{shares.computed / shares.total:>16.2f}{shares.seconds:>7.1f}", flush=True)
                print("".join(shares.errors[:3]), end="")
                complete = shares.total == options.trials and not shares.errors
                good &= complete and shares.slowest_share >= 0.5
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
