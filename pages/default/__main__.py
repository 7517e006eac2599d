"""The page that justifies the default, written from the records of the suite, with its figures.

python -m pages.default RECORDS_FOLDER --docs docs
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ceibo.errors import CeiboError, InputError
from ceibo_lab.page import Page
from ceibo_lab.plans.suite import DEVELOPMENT, LOCKED, PAIRS, noises, trials
from ceibo_lab.problems import NAMES
from ceibo_lab.record import Record
from ceibo_lab.records import SUFFIXES, Read, read
from pages.default import sections
from pages.default.analysis import DEFAULT, Versus, rank, versus
from pages.default.designs import designs
from pages.default.guide import SITUATIONS, Loss, advice, loss_rows, losses, noise_free
from pages.default.runs import NOISELESS, Parts, part_of, parts
from pages.default.targets import (
    failures_target,
    lacking,
    noiseless_target,
    ranks_target,
    size_target,
    time_target,
    wins_target,
)
from pages.default.words import ANSWERS, COMMANDS, METHODS, NOISE, RULES

NAME: Final = "default.md"
PICTURES: Final = "images"
Picture = tuple[str, str]  # path from the page, caption


def write_page(place: Path, docs: Path) -> list[Path]:
    """Writes the page and the figures of the records in `place` into the folder `docs`."""
    from pages.default.figures import write_figures  # matplotlib, an extra

    found = read(place)
    records = [record for record in found.records if part_of(record) is not None]
    if not records:
        raise InputError(
            f"there are no records of the suite in {place}; `ceibo paper run suite-locked --out"
            " FOLDER` makes some, in FOLDER/records."
        )
    locked = parts(records).locked
    lost = losses(locked, rank(locked), versus(locked))
    pictures = write_figures(
        locked, docs / PICTURES, [(loss.case, loss.winner) for loss in lost if loss.final > 0]
    )
    kept = [
        docs / PICTURES / Path(name).with_suffix(end)
        for name, _ in pictures
        for end in (".png", ".svg")
    ]
    files = (
        [place]
        if place.is_file()
        else [path for path in place.iterdir() if path.name.endswith(SUFFIXES)]
    )
    size = sum(path.stat().st_size for path in (*files, *kept))
    text = page(
        found,
        [(f"{PICTURES}/{name}", caption) for name, caption in pictures],
        size,
        place.as_posix(),
    )
    (docs / NAME).write_text(text.markdown(), encoding="utf-8")
    return [docs / NAME, *kept]


def page(found: Read, pictures: Sequence[Picture], size: int, place: str) -> Page:
    """The whole page; `size` is that of records and figures in bytes."""
    records = [record for record in found.records if part_of(record) is not None]
    runs = parts(records)
    locked = runs.locked
    ranks, rows = rank(locked), versus(locked)
    lost = losses(locked, ranks, rows)
    shown = {Path(path).stem: (path, caption) for path, caption in pictures}
    out = Page("Why this default")
    out.paragraph(
        f"This page is written by `python -m pages.default {place}` from {len(records)} records;"
        " every number in it comes from there. It says what `ceibo.minimize(f, space)` does when"
        " nothing else is said, what that was compared with, and what came out."
        f" {_settings(records)}"
    )
    _targets(out, records, runs, size)
    _compared(out)
    sections.ranks(out, locked, ranks, shown)
    sections.cells(out, locked, ranks, rows, shown)
    if rows:
        _losses(out, lost, shown)
    sections.fresh(out, records)
    sections.screening(out, runs.development)
    designs(out, found.records)
    sections.noiseless(out, runs.noiseless)
    sections.cost(out, records)
    _guide(out, runs, rows)
    _repeat(out, found, place)
    return out


def _settings(records: Sequence[Record]) -> str:
    """What the records say the default was."""
    texts = {
        json.dumps(record["settings"], sort_keys=True)
        for record in records
        if record["cell"]["method"] == DEFAULT
        and record["status"] == "done"
        and record["cell"]["problem"] in LOCKED
    }
    if len(texts) > 1:
        return (
            f"**The default had {len(texts)} different settings in these records: they cannot be"
            " compared.**"
        )
    return "".join(f"The default's settings were `{text}`." for text in texts)


def _targets(out: Page, records: Sequence[Record], runs: Parts, size: int) -> None:
    out.heading("What it had to show, and what it shows")
    if said := lacking(runs.locked):
        out.paragraph(f"**The sweep is not complete, and all that follows is so far.** {said}")
    every = (
        ranks_target(runs.locked),
        wins_target(runs.locked),
        time_target([record for record in records if record["cell"]["protocol"] != NOISELESS]),
        noiseless_target(runs.noiseless),
        failures_target(records),
        size_target(size, len(records)),
    )
    out.items([f"**{each.verdict}**: {each.statement} *{each.found}*" for each in every])


def _compared(out: Page) -> None:
    out.heading("What was compared, and how")
    for text in RULES:
        out.paragraph(text)
    pairs = [
        " / ".join(f"**{NAMES[n]}**" if n in LOCKED else NAMES[n] for n in pair) for pair in PAIRS
    ]
    out.paragraph(f"The pairs, those of the locked half in bold: {'; '.join(pairs)}.")
    out.table(
        ("problem", "half", "trials", "noise settings: protocol, level"),
        [
            [
                NAMES[name],
                half,
                str(trials(name)),
                "; ".join(
                    f"`{kind}`" + f", {100 * level:g} %" * (level < 1)
                    for kind, level in noises(name)
                ),
            ]
            for half, names in (("locked", LOCKED), ("development", DEVELOPMENT))
            for name in names
        ],
    )
    out.table(("protocol", "noise of a measurement", "methods are told"), NOISE)
    out.table(("method", "how it was run", "what it recommends"), METHODS)
    out.paragraph(ANSWERS)


def _losses(out: Page, lost: Sequence[Loss], shown: sections.Pictures) -> None:
    out.heading("Where it loses")
    if not lost:
        out.paragraph(
            "In no cell does the default lose significantly to any method, or rank worse than"
            " third."
        )
        return
    out.paragraph(
        "The cells in which the default loses significantly to a method, or is ranked worse than"
        " third, beside the method that beat it by most. Differences are the default's mean log10"
        " regret minus the other's: at the end, over the whole run, and of the truly best point"
        " each had measured (which nobody can know). Where that last one explains at least half of"
        " the first, the points measured made the difference, otherwise the choice among them."
        " Repeated is the share of measurements at a point measured before, the default's and the"
        " other's."
    )
    head = (
        "cell",
        "rank",
        "significantly to",
        "beside",
        "end",
        "area",
        "best point",
        "repeated",
        "the difference is",
    )
    out.table(head, loss_rows(lost))
    sections.picture(out, shown, "default-losses")


def _guide(out: Page, runs: Parts, rows: Sequence[Versus]) -> None:
    out.heading("When to choose otherwise")
    out.paragraph(
        "What the cells of each kind say. They are few: a rank over two or four cells is a hint,"
        " and what holds on these problems need not hold on yours."
    )
    out.items(
        [
            noise_free(runs.noiseless),
            *[advice(situation, runs.locked, runs.development, rows) for situation in SITUATIONS],
            (
                "**Many parallel workers.** No run here had a measurement pending while it chose"
                " the next point, so this page says nothing about it. What the default does with"
                " pending points is in [parallel work](guides/parallel.md)."
            ),
            (
                '**To repeat the paper.** `acquisition="corrected-ei"` is its acquisition function'
                ' and `fit="ml"` its fit: [the paper\'s experiments](paper.md).'
            ),
        ]
    )


def _repeat(out: Page, found: Read, place: str) -> None:
    out.heading("Repeat it")
    for text in COMMANDS:
        out.paragraph(text.replace("RECORDS", place))
    out.items(found.notes)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "records", type=Path, help="folder of .jsonl or .jsonl.gz files, or one of them"
    )
    parser.add_argument(
        "--docs", type=Path, default=Path("docs"), help=f"folder for {NAME} and {PICTURES}/"
    )
    given = parser.parse_args(arguments)
    try:
        if not given.records.exists():
            raise InputError(f"{given.records} does not exist; expected a folder of records.")
        for path in write_page(given.records, given.docs):
            print(path)
    except CeiboError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except ImportError as error:
        line = "pip install path/to/the/clone/lab"
        print(f"error: figures need {error.name}: {line}.", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
