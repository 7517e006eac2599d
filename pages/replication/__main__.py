"""The replication of the paper as a page of Markdown, from records.

python -m pages.replication results --docs docs
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from ceibo.errors import CeiboError, InputError
from ceibo_lab.arithmetic import is_older
from ceibo_lab.claims import all_claims
from ceibo_lab.compare import Claim, Verdict
from ceibo_lab.completeness import completeness
from ceibo_lab.library import Library
from ceibo_lab.page import Page
from ceibo_lab.record import Record
from ceibo_lab.records import Read, read
from ceibo_lab.rows import claim_cells
from pages.replication import reasons
from pages.replication.findings import Elsewhere, elsewhere

NAME: Final = "replication.md"
PICTURES: Final = "images/replication"
RECORDS: Final = "records"
REPEATED: Final = "repeated"  # the same cells on another machine, beside the records
Picture = tuple[str, str]  # path from the page, caption
_HEADINGS: Final = (
    ("What holds", (Verdict.HOLDS,)),
    ("What does not hold", (Verdict.FAILS,)),
    ("What is not decided", (Verdict.UNDECIDED, Verdict.EQUAL, Verdict.NOT_RUN)),
)


def write_page(place: Path, docs: Path) -> list[Path]:
    """Writes the page and its figures from the records in `place` into the folder `docs`."""
    from pages.replication.figures import write_figures  # matplotlib, an extra

    found = read(place / RECORDS)
    if not found.done:
        raise InputError(
            f"there are no records in {place / RECORDS}: `ceibo paper run` makes some, in a folder"
            " records of its own."
        )
    library = Library(found.done)
    pictures = write_figures(library, docs / PICTURES)
    named = [(f"{PICTURES}/{name}", caption) for name, caption in pictures]
    text = page(found, read(place / REPEATED).done, named)
    (docs / NAME).write_text(text.markdown(), encoding="utf-8")
    drawn = [docs / path for path, _ in named]
    return [docs / NAME, *drawn, *[path.with_suffix(".svg") for path in drawn]]


def page(found: Read, repeated: Sequence[Record], pictures: Sequence[Picture]) -> Page:
    """The whole page."""
    library, records = Library(found.done), found.done
    claims = all_claims(library)
    shown = {Path(path).stem: (path, caption) for path, caption in pictures}
    out = Page("The paper, repeated")
    _introduction(out, records)
    _claims(out, claims)
    for heading, verdicts in _HEADINGS:
        _those(out, heading, [claim for claim in claims if claim.verdict in verdicts])
    reasons.difference(out, library, shown)
    out.heading("Why")
    reasons.stall(out, library)
    reasons.protocol(out, library)
    reasons.power(out, library)
    reasons.restarts(out, library)
    _elsewhere(out, elsewhere(records, repeated))
    reasons.scenario(out, library, shown)
    _missing(out, records)
    return out


def _introduction(out: Page, records: Sequence[Record]) -> None:
    out.paragraph(
        "Zhou, Ma and Blaschko (ACML 2023) correct expected improvement for the uncertainty of the"
        " incumbent: α(x) = E[max(0, f(x) − f(x⁺))], with f(x⁺) as uncertain as the model says"
        " instead of equal to its mean. This page is for a reader who wants to know what of their"
        " experiments can be repeated. Every number in it is written by `python -m"
        f" pages.replication results` from {len(records)} records of single runs;"
        " `results/report.md` has all tables and figures, [the paper's experiments](paper.md) how"
        " to run them."
    )
    if older := sum(map(is_older, records)):
        out.paragraph(
            f"**{older} of these records are of an older arithmetic**, most with a likelihood"
            " climbed from one start; what rests on them is marked †, and is to be run again."
        )
    out.paragraph(
        "The setting is the paper's: seven acquisition functions on one Gaussian process"
        " (Matérn 5/2, zero mean on standardised values, length scales by maximum likelihood), four"
        " functions, three Sobol points per dimension and 150 evaluations more. The noise is one"
        " that an experimenter could meet: each measurement has a known standard deviation, drawn"
        " before its error. Methods meet the same initial points and the same noise at the same"
        " seed, so differences are taken seed by seed: Wilcoxon's signed-rank test, exact and"
        " two-sided, with Holm's correction over a table; Hodges-Lehmann estimates with 95 %"
        " intervals. A run that failed would stand as a failure; none was started again."
    )


def _claims(out: Page, claims: Sequence[Claim]) -> None:
    out.heading("What the paper claims, and what came out")
    rows = [[claim.statement, *claim_cells(claim)] for claim in claims]
    out.table(("claim", "verdict", "n", "difference [95 %], or rows"), rows)


def _those(out: Page, heading: str, claims: Sequence[Claim]) -> None:
    if not claims:
        return
    out.heading(heading)
    for claim in claims:
        _, n, found = claim_cells(claim)
        said = f"{claim.table.title}: {found} (n = {n})" if claim.table.rows else "not run yet"
        remark = claim.remark if claim.verdict is Verdict.FAILS else ""
        out.paragraph(f"**{claim.statement}**: {said}. {remark}".rstrip())


def _elsewhere(out: Page, found: Elsewhere | None) -> None:
    out.heading("What another machine changes")
    out.paragraph(
        "Everything here is a function of a cell and of the bits of the libraries. With the same"
        " versions on the same kind of processor a run comes out the same to the last bit, and"
        " `ceibo paper check` says so. With others the sums of linear algebra are rounded"
        " otherwise; the maximum of an acquisition moves in its last digits, a measurement with it,"
        " and sooner or later the two runs go their own ways. They are then two draws from one"
        " distribution: no single run means anything, and a verdict that hangs on a few of them may"
        " turn."
    )
    if found is None:
        out.paragraph("No repetition by the same arithmetic on another machine is recorded yet.")
        return
    out.paragraph(
        f"{found.cells} cells were run again with these differences: {'; '.join(found.versions)}."
        f" {found.same} are the same bit for bit.{_parting(found)}"
    )
    for one, two in found.rows:
        texts = [
            f"{row.comparison.interval.estimate:+.2g} [{row.comparison.interval.low:+.2g},"
            f" {row.comparison.interval.high:+.2g}], p = {row.comparison.p:.2g}, n ="
            f" {row.comparison.n}"
            for row in (one, two)
        ]
        out.paragraph(f"Corrected EI − EI on {one.label}: {texts[0]}; again {texts[1]}.")


def _parting(found: Elsewhere) -> str:
    """Where the others part, and how many end elsewhere."""
    if not found.parted:
        return ""
    first, last, count = found.parted[0], found.parted[-1], len(found.parted)
    where = f"measurement {first}" if first == last else f"measurements {first} to {last}"
    others = f"{len(found.moved)} of these {count}" if found.moved else f"none of these {count}"
    by = f", by {np.median(found.moved):.2g} in the median" if found.moved else ""
    return (
        f" The others part at {where}, to the digits that a record keeps, and {others} end with"
        f" another log10 regret of `best`{by}."
    )


def _missing(out: Page, records: Sequence[Record]) -> None:
    out.heading("What is there, and how to repeat it")
    rows = [each for each in completeness(records) if each.finished < each.planned]
    if rows:
        out.paragraph(
            "Planned and not complete: "
            + ", ".join(f"{r.experiment}/{r.block} ({r.finished} of {r.planned})" for r in rows)
            + "."
        )
    else:
        out.paragraph("Every block of the plan is complete.")
    out.paragraph(
        "In a clone, `ceibo paper check --sample 50` runs fifty random records again and says of"
        " each whether it is the same, or what was otherwise; `ceibo paper run benchmark-10"
        " --method ei --problem levy --seed 3 --against results` does so for the cells that are"
        " named. `ceibo paper run all --out again` runs everything, and `ceibo paper report --out"
        " again` writes the report of it."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m pages.replication", description=__doc__)
    parser.add_argument("place", type=Path, help="folder with a folder records")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="folder of the page")
    options = parser.parse_args(arguments)
    try:
        for path in write_page(options.place, options.docs):
            print(path)
    except CeiboError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
