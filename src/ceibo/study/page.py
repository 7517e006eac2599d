"""A page about a study, to be looked at in a notebook or kept as a file."""

from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Final, final

from ceibo.files import write_whole

_HEIGHT: Final = 720  # pixels of the frame in a notebook


@final
@dataclass(frozen=True)
class Page:
    """One HTML page; a notebook shows it, `str` is its text, and `save` writes it to a file."""

    title: str
    html: str = field(repr=False)

    def __str__(self) -> str:
        return self.html

    def save(self, path: str | Path) -> None:
        """Writes the page in one step; a file that is there is replaced."""
        write_whole(path, self.html)

    def _repr_html_(self) -> str:
        # A frame of its own origin: the page's script, which sorts its table, reaches nothing else.
        return (
            f'<iframe sandbox="allow-scripts" title="{escape(self.title)}" width="100%"'
            f' height="{_HEIGHT}" style="border:0;color-scheme:normal"'
            f' srcdoc="{escape(self.html)}"></iframe>'
        )
