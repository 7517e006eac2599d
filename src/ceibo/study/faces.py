"""What layers above the study attach to it: what it looks like, and how it leaves the program."""

from abc import ABC

from ceibo.attached import Shown, attached
from ceibo.study.page import Page
from ceibo.study.record import Record


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
