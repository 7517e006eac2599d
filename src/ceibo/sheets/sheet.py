"""`Study.sheet`: what to measure next, as a worksheet to be filled in."""

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ceibo.checks import check_whole
from ceibo.errors import InputError
from ceibo.files import write_whole
from ceibo.sheets.columns import columns_for
from ceibo.sheets.entries import STUDY_FILE
from ceibo.sheets.guide import guide_to
from ceibo.sheets.plan import plan_of
from ceibo.sheets.text_form import PLAIN, TextForm
from ceibo.sheets.text_plan import to_text
from ceibo.sheets.workbook import openpyxl
from ceibo.sheets.workbook_plan import to_workbook
from ceibo.study import Study, Trial
from ceibo.study.batch import ask_batch
from ceibo.study.trial import trial_of

_MOST_REPLICATES: Final = 50
_TEXTS: Final = (".csv", ".txt", ".tsv")


def write_sheet(  # noqa: PLR0913 - public, keyword-only
    study: Study,
    path: str | os.PathLike[str],
    count: int | None = None,
    *,
    pending: bool = False,
    fixed: Mapping[str, Any] | None = None,
    shared: Sequence[str] | None = None,
    replicates: int = 0,
    blocks: Sequence[str] = (),
    bom: bool = False,
    separator: str = ",",
    decimal: str = ".",
    force: bool = False,
    file: str = STUDY_FILE,
) -> list[Trial]:
    """Asks for trials and writes them; see `Study.sheet`. `file` is the study file."""
    target = Path(path)
    form = TextForm(bom, separator, decimal)
    is_book = _check_target(target, force, form)
    several = check_whole(replicates, "replicates", 0, _MOST_REPLICATES)
    if isinstance(blocks, str):
        raise InputError(f"blocks: expected a list of kinds, as in ['day'], got {blocks!r}.")
    if count is None and not pending and not (fixed or shared):
        pending = bool(_under_way(study))
        count = None if pending else 1
    if count is None and (fixed or shared):
        raise InputError("fixed and shared are about new trials; say how many to ask for.")
    asked = [] if count is None else ask_batch(study.asking, count, fixed, shared, dial=True)
    numbers = [trial.number for trial in asked]
    if pending:
        numbers = sorted({*numbers, *(each.number for each in _under_way(study))})
    if not numbers:
        raise InputError("no trial is under way; say how many to ask for.")
    known = study.ledger.refresh().trials
    trials = [trial_of(known[number]) for number in numbers]
    columns = plan_of(study, trials, several, blocks)
    try:
        if is_book:
            names = columns_for(study.space.names, study.outcomes)
            back = shlex.join(["ceibo", "sheet", file, target.name, "--read"])
            guide = guide_to(study, names, target.name, back, several > 0)
            write_whole(target, to_workbook(columns, study.name, guide))
        else:
            write_whole(target, to_text(columns, form))
    except OSError as error:
        raise InputError(
            f"cannot write {target}: {error.strerror}; the trials are under way, and pending=True"
            " (--pending) writes them elsewhere."
        ) from None
    return trials


def _under_way(study: Study) -> list[Trial]:
    """The trials that wait for a person, and are not a worker's."""
    workers = study.ledger.workers()
    return [
        trial for trial in study.trials if trial.state == "running" and trial.number not in workers
    ]


def _check_target(path: Path, force: bool, form: TextForm) -> bool:
    """Refuses, before anything is asked for, what cannot be written; says if it is a workbook."""
    suffix = path.suffix.lower()
    if suffix not in (".xlsx", *_TEXTS):
        raise InputError(f"cannot write {path.name!r}; name it .xlsx or .csv.")
    if suffix == ".xlsx" and form != PLAIN:
        raise InputError("bom, separator and decimal are of .csv files; leave them out for .xlsx.")
    if not path.absolute().parent.is_dir():
        raise InputError(
            f"cannot write {path}: the folder {path.parent} does not exist; create it first."
        )
    if path.exists() and not force:
        raise InputError(
            f"{path} exists already and may have been filled in; read it first, and then name"
            " another file, or replace it by force (--force)."
        )
    if suffix == ".xlsx":
        openpyxl()
    return suffix == ".xlsx"
