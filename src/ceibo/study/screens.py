"""Where a run is shown as it goes: a terminal or a file, or the output of a notebook's cell."""

import sys
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from html import escape
from typing import Any, Final, final

from rich.console import Console
from rich.live import Live
from rich.text import Text

_LINES: Final = 6  # of the latest trials in a notebook
_SECONDS: Final = 0.2  # between two changes there


class Screen(ABC):
    """Lines that stay, and below them the state of the run, which is replaced."""

    width: int
    is_alive: bool
    """Whether the state is replaced in place, rather than shown at the end alone."""

    @abstractmethod
    def start(self) -> None:
        """Begins."""

    @abstractmethod
    def line(self, text: Text) -> None:
        """Shows a line that stays."""

    @abstractmethod
    def update(self, state: Text) -> None:
        """Shows another state."""

    @abstractmethod
    def stop(self, state: Text, sentences: Iterable[str]) -> None:
        """Shows the last state and what is to be said after it, and ends."""


def find_screen(wanted: bool | None) -> Screen | None:
    """Where to show a run; None if it is not wanted or, unless it is, if nobody looks."""
    if wanted is False:
        return None
    display = _notebook_display()
    if display is not None:
        return Notebook(display)
    return Terminal() if wanted or sys.stderr.isatty() else None


@final
class Terminal(Screen):
    """A terminal; a file, if the output goes to one, gets the last state alone."""

    def __init__(self) -> None:
        self.console = Console(stderr=True)
        self.width = self.console.width
        self.is_alive = self.console.is_terminal
        self.live = Live(console=self.console, refresh_per_second=4, transient=False)

    def start(self) -> None:
        self.live.start()

    def line(self, text: Text) -> None:
        with suppress(OSError):  # a terminal that was closed
            if self.is_alive:
                self.console.print(text, highlight=False, overflow="ellipsis", no_wrap=True)
            else:  # a file has no width
                self.console.print(text, highlight=False, soft_wrap=True)

    def update(self, state: Text) -> None:
        with suppress(OSError):  # as above
            self.live.update(state)

    def stop(self, state: Text, sentences: Iterable[str]) -> None:
        with suppress(OSError):  # as above
            self.live.update(state, refresh=True)
            self.live.stop()
            if not self.is_alive:
                self.console.line()  # ends the last line of a file
            for sentence in sentences:
                self.console.print(sentence, highlight=False, markup=False)


@final
class Notebook(Screen):
    """One output of a cell, replaced as the run goes: the latest lines, and the state.

    Args:
        display: IPython's, which returns a handle; nothing else of it is needed.
    """

    width = 100
    is_alive = True

    def __init__(self, display: Any) -> None:
        self._display = display
        self._handle: Any = None
        self._lines: deque[str] = deque(maxlen=_LINES)
        self._state = ""
        self._shown = -1.0

    def start(self) -> None:
        """Nothing is shown before there is something to show."""

    def line(self, text: Text) -> None:
        self._lines.append(text.plain)

    def update(self, state: Text) -> None:
        self._state = state.plain
        if time.monotonic() - self._shown >= _SECONDS:
            self._show()

    def stop(self, state: Text, sentences: Iterable[str]) -> None:
        self._state = "\n".join([state.plain, *sentences])
        self._show()

    def _show(self) -> None:
        """Replaces the output."""
        plain = "\n".join([*self._lines, self._state])
        lines = "".join(f"{escape(each)}\n" for each in self._lines)
        html = (
            '<pre style="margin:0;white-space:pre-wrap;font-family:monospace;color:inherit">'
            f'<span style="opacity:.7">{lines}</span><b>{escape(self._state)}</b></pre>'
        )
        data = {"text/plain": plain, "text/html": html}
        if self._handle is None:
            self._handle = self._display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)
        self._shown = time.monotonic()


def _notebook_display() -> Any:
    """IPython's `display` if this runs in the kernel of a notebook, else None."""
    ipython = sys.modules.get("IPython")  # in a notebook it is there already
    if ipython is None:
        return None
    shell = ipython.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    return display
