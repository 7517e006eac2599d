"""What layers above the study attach to it: what it looks like, and how it leaves the program."""

import os
from abc import ABC
from collections.abc import Mapping, Sequence
from typing import Any

from ceibo.attached import Shown, attached
from ceibo.study.page import Page
from ceibo.study.record import Record
from ceibo.study.sheet_reading import SheetReading
from ceibo.study.trial import Trial


class Faces(Record, Shown, ABC):
    """The methods of `Study` whose bodies are in layers above; see `ceibo.attached`."""

    @attached
    def report(self, *, cost: float | None = None) -> Page:
        """The report of the study as it is now: a notebook shows it, `.save(path)` writes it.

        Args:
            cost: price of a measurement, in the objective's units; shows what the stopping rule
                says.
        """
        raise NotImplementedError

    @attached
    def sheet(  # noqa: PLR0913 - public, keyword-only
        self,
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
    ) -> list[Trial]:
        """Asks for what to measure next and writes it as a worksheet to be filled in.

        The settings are rounded to what a person can dial, and recorded so: what stands on the
        sheet is what is measured. Predicted values ± their standard deviations stand beside them.
        A trial that was asked for elsewhere is written with all its digits.

        Args:
            path: of the file, .xlsx (which needs the extra `sheets`) or .csv.
            count: how many trials to ask for; without one those under way are written, or, if
                there are none, a new one.
            pending: write also the trials that are under way; without a count only those.
            fixed, shared: as for `ask`.
            replicates: how many columns of replicates there are for each outcome.
            blocks: kinds of blocks that get a column, such as ["day", "plate"], beside those that
                were told before; by default there is one column, `block`.
            bom, separator, decimal: how a .csv file is written; "," and "." by default.
            force: replace a file that exists.

        Returns:
            The trials on the sheet.
        """
        raise NotImplementedError

    @attached
    def read_sheet(
        self,
        path: str | os.PathLike[str],
        *,
        columns: Mapping[str, str] | None = None,
        again: bool = False,
        dry_run: bool = False,
    ) -> SheetReading:
        """Takes a worksheet back: values, replicates, settings really used, notes, dates, blocks.

        A trial that was run at other settings than planned is withdrawn, and one at the settings
        really used is added, whose attribute `planned` is the number of the former. Rows without a
        trial number are added as new trials. Reading a sheet again stores only what is new on it.

        Args:
            path: of the file, .xlsx or .csv, with a title above the table or without.
            columns: header -> what it stands for, as in {"Time (h)": "hours"}.
            again: rows without a trial number that differ from what was read from that file before
                are further runs, not changes.
            dry_run: say what would be stored, and store nothing.

        Raises:
            SheetError: something is wrong; it has all `problems` with their cells, and nothing
                was stored.
        """
        raise NotImplementedError
