"""Spaces that change under working processes that are killed; and a better solvent that comes late.

    python -m soak.changes --histories 200        random histories
    python -m soak.changes --late-solvent         what it costs that a choice came late

A history is one study in which processes ask (with parameters held or shared, too), tell, release,
enqueue, add data from outside the space and change the space, until each is killed by SIGKILL or
has done its part. Afterwards every suggestion must verify, every suggestion and every hand-out of
one must be a setting of the space of its time, and nothing acknowledged may be missing.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from ceibo import Study
from ceibo.errors import CeiboError, ConflictError
from ceibo.study.picking import COMPUTED
from soak.children import Diary, fork
from soak.late_solvent import show_late_solvent
from soak.spaces import random_change, random_space

LONGEST_LIFE = 2.0
"""Seconds after which a process is killed, at most; every third may do all of its part."""
_ACTIONS = ("ask", "ask", "ask", "ask", "hold", "share", "change", "enqueue", "release", "add")


@final
@dataclass
class Figures:
    """What the histories came to."""

    histories: int = 0
    trials: int = 0
    changes: int = 0
    kills: int = 0
    withdrawn: int = 0
    verified: int = 0
    faults: list[str] = field(default_factory=list)


def run_histories(folder: Path, count: int, seed: int = 0, rounds: int = 4) -> Figures:
    """Runs so many histories, each in a database of its own, and examines them."""
    figures = Figures()
    for history in range(seed, seed + count):
        generator = random.Random(history)
        url = f"sqlite:///{folder / f'history-{history}.db'}"
        study = Study.create(random_space(generator), storage=url, seed=history, n_initial=4)
        study.close()
        diaries = [Diary(folder / f"diary-{history}-{each}") for each in range(rounds)]
        for each, diary in enumerate(diaries):
            figures.kills += _live(url, diary, random.Random(f"{history}/{each}"))
        figures.faults += [
            f"history {history}: {fault}" for fault in _examine(url, diaries, figures)
        ]
        figures.histories += 1
    return figures


def _live(url: str, diary: Diary, generator: random.Random) -> bool:
    """A process works on a study; whether it was killed."""
    pid = fork(lambda: _work(url, diary, generator), diary)
    if generator.random() < 1 / 3:
        os.waitpid(pid, 0)
        return False
    time.sleep(generator.uniform(0.0, LONGEST_LIFE))
    os.kill(pid, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def _work(url: str, diary: Diary, generator: random.Random) -> None:
    """Does what a user may do, and notes what was acknowledged."""
    study = Study.open(url)
    for _ in range(generator.randint(6, 14)):
        action = generator.choice(_ACTIONS)
        try:
            _act(study, action, diary, generator)
        except ConflictError:  # a trial that another action has ended
            continue
    study.close()


def _act(study: Study, action: str, diary: Diary, generator: random.Random) -> None:
    space = study.space
    if action == "change":
        new, before = random_change(space, generator)
        study.change(new, before)
        diary.write(f"changed {len(study.ledger.changes)}")
        return
    point = space.from_unit([generator.random() for _ in space.names])
    if action == "enqueue":
        if not any(not rule.holds(point) for rule in space.rules):
            diary.write(f"enqueued {study.enqueue(point).number}")
        return
    if action == "add":
        far = {name: _far(value, generator) for name, value in point.items()}
        diary.write(f"told {study.add(far, generator.random()).number}")
        return
    for trial in _asked(study, action, generator):
        if action == "release" and generator.random() < 0.7:
            study.release(trial)
            continue
        study.tell(trial, _value(trial.params), noise=0.05)
        diary.write(f"told {trial.number}")


def _asked(study: Study, action: str, generator: random.Random) -> list[Any]:
    names = study.space.names
    if action == "share":
        return study.ask(2, shared=[generator.choice(names)])
    if action == "hold":
        name = generator.choice(names)
        value = study.space.dimensions[name].from_unit(generator.random())
        try:
            return [study.ask(fixed={name: value})]
        except CeiboError as error:
            if "obeys" not in str(error):  # a rule may leave nothing beside the value
                raise
    return [study.ask()]


def _far(value: Any, generator: random.Random) -> Any:
    """A number somewhere outside its range, perhaps; a choice as it is."""
    if isinstance(value, str):
        return value
    return value + generator.choice([0, -50, 80]) * (1 if isinstance(value, int) else 1.25)


def _value(params: dict[str, Any]) -> float:
    numbers = [value for value in params.values() if not isinstance(value, str)]
    return float(sum((value / 10.0 - 1.0) ** 2 for value in numbers) + ord(params["kind"]) / 50.0)


def _examine(url: str, diaries: list[Diary], figures: Figures) -> list[str]:
    """What is wrong with a study after all that was done to it."""
    study = Study.open(url)
    faults = [line for diary in diaries for line in diary.lines() if line.startswith("error ")]
    verified = study.verify()
    if not verified.ok or verified.identical != verified.checked:
        faults.append(str(verified))
    faults += _misplaced(study)
    trials = study.trials
    done = {trial.number for trial in trials if trial.measurements}
    for line in (line for diary in diaries for line in diary.lines()):
        word, _, number = line.partition(" ")
        lost = word == "told" and int(number) not in done
        lost |= word == "enqueued" and int(number) >= len(trials)
        lost |= word == "changed" and int(number) > len(study.ledger.changes)
        if lost:
            faults.append(f"{line!r} was acknowledged and is lost")
    states = Counter(trial.state for trial in trials)
    figures.trials += len(trials)
    figures.changes += len(study.ledger.changes)
    figures.withdrawn += states["withdrawn"]
    figures.verified += verified.checked
    study.close()
    return faults


def _misplaced(study: Study) -> list[str]:
    """Suggestions, and hand-outs of them, that are no settings of the space of their time."""
    ledger = study.ledger
    changes, suggestions, trials = ledger.changes, study.suggestions, study.trials
    faults = []
    for event in ledger.store.events(ledger.id):
        if event.kind not in ("asked", "claimed"):
            continue
        if suggestions.get(event.number, {}).get("source") not in COMPUTED:
            continue
        known = [change for change in changes if change.seq < event.seq]
        if not ledger.spaces.frame(known).fits(trials[event.number].params):
            faults.append(f"trial {event.number} was {event.kind} outside the space")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--histories", type=int, default=200)
    parser.add_argument("--late-solvent", action="store_true", help="the late solvent alone")
    parser.add_argument("--seeds", type=int, default=20, help="of the late solvent")
    parser.add_argument("--seed", type=int, default=0, help="of the first history")
    options = parser.parse_args()
    if options.late_solvent:
        return 0 if show_late_solvent(options.seeds) else 1
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        found = run_histories(Path(name), options.histories, options.seed)
    heads = ("histories", "trials", "changes", "kills", "withdrawn", "verified", "faults", "s")
    figures = [found.histories, found.trials, found.changes, found.kills, found.withdrawn]
    figures += [found.verified, len(found.faults), round(time.perf_counter() - begin)]
    print("".join(f"{head:>10}" for head in heads))
    print("".join(f"{figure:>10}" for figure in figures))
    print("\n".join(fault[:1500] for fault in found.faults[:5]))
    return 1 if found.faults else 0


if __name__ == "__main__":
    sys.exit(main())
