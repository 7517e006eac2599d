"""What was taken from a worksheet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from ceibo.text import plural


@final
@dataclass(frozen=True)
class SheetReading:
    """What a worksheet told a study.

    `filled` are trials that got values, `failed` those that failed, `new` the trials of rows
    without a number, and `as_run` has, by planned trial, the one that was added for what was really
    run. `noted` are trials whose notes or dates are new. `known` rows changed nothing, `waiting`
    ones have no value yet. `details` say what became of each new trial, and which trials still lack
    an outcome; `notes` are remarks about the file. A dry run has no numbers for new trials, which
    are counted from -1 downwards.
    """

    filled: tuple[int, ...] = ()
    failed: tuple[int, ...] = ()
    new: tuple[int, ...] = ()
    as_run: Mapping[int, int] = field(default_factory=dict)
    noted: tuple[int, ...] = ()
    known: int = 0
    waiting: int = 0
    details: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [
            f"{len(self.filled)} filled" if self.filled else "",
            f"{len(self.new)} new" if self.new else "",
            f"{len(self.as_run)} as really run" if self.as_run else "",
            f"{len(self.failed)} failed" if self.failed else "",
            f"{len(self.noted)} with new notes" if self.noted else "",
            f"{plural(self.known, 'row')} known already" if self.known else "",
            f"{self.waiting} without a value yet" if self.waiting else "",
        ]
        return ", ".join(filter(None, parts)) or "nothing"
