"""A table: the row of a grid that names the columns, and the rows below it."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

from ceibo.checks import ask_nearest
from ceibo.errors import InputError
from ceibo.sheets.cells import unguard
from ceibo.sheets.grid import Grid, Record
from ceibo.sheets.names import fold, normalize, split_unit
from ceibo.sheets.numerals import excerpt

_MOST_NAMED: Final = 30  # columns that an error names
_MOST_ABOVE: Final = 40  # rows that are looked at for the header


@final
@dataclass(frozen=True)
class Table:
    """A header and the rows below it; `mapping` says what some headers stand for."""

    grid: Grid
    header: tuple[str, ...]
    rows: tuple[Record, ...]
    mapping: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.grid.path

    def column(self, name: str, loosely: bool = False, but: Collection[int] = ()) -> int | None:
        """The place of a column among those not in `but`, or None.

        A header may have a unit behind the name; `loosely` ignores capitals and underscores.
        """
        given = self.mapped(name)
        if given:
            return self._only(name, given)
        free = {
            place: each
            for place, each in enumerate(self.header)
            if place not in but and normalize(each) not in self.mapping
        }
        alike: tuple[Callable[[str], str], ...] = (normalize,)
        if loosely:
            alike = (normalize, lambda text: normalize(text).casefold(), fold)
        for bare in (str, lambda text: split_unit(text)[0]):
            for same in alike:
                wanted = same(name)
                places = [place for place, each in free.items() if same(bare(each)) == wanted]
                if places:
                    return self._only(name, places)
        return None

    def mapped(self, name: str) -> list[int]:
        """The places of the headers that were said to be this column."""
        return [
            place
            for place, each in enumerate(self.header)
            if self.mapping.get(normalize(each)) == name
        ]

    def _only(self, name: str, places: list[int]) -> int:
        if len(places) > 1:
            shown = ", ".join(excerpt(self.header[place]) for place in places[:_MOST_NAMED])
            raise InputError(
                f"{self.path}: several columns could be {name!r}: {shown}; rename all but one, or"
                " say which it is."
            )
        return places[0]

    def no_column(self, name: str) -> InputError:
        """The error about a column that is not there."""
        found = ", ".join(map(excerpt, filter(None, self.header[:_MOST_NAMED]))) or "nothing"
        if len(self.header) > _MOST_NAMED:
            found += f" and {len(self.header) - _MOST_NAMED} more"
        end = ask_nearest(name, filter(None, self.header))
        return InputError(f"there is no column {name!r}{end} The header has {found}.")


def to_table(grid: Grid, wanted: Collection[str]) -> Table:
    """The table in a grid: its header is the row with the most of the `wanted` names."""
    place, _ = find_header(grid, wanted)
    if not grid.records:
        return Table(grid, (), ())
    header = _names((cell.text for cell in grid.records[place].cells), wanted)
    return Table(grid, header, grid.records[place + 1 :])


def find_header(grid: Grid, wanted: Collection[str]) -> tuple[int, tuple[int, int]]:
    """The place of the row that names the columns, and how well it does."""
    names = {fold(name) for name in wanted}
    best, place = (-1, 0), 0
    for number, record in enumerate(grid.records[:_MOST_ABOVE]):
        texts = _names((cell.text for cell in record.cells), wanted)
        found = {fold(text) for text in texts} | {fold(split_unit(text)[0]) for text in texts}
        fit = len(names & found)
        # of the first row the number of cells counts as well, as where no name is known
        score = fit, len(record.cells) if number == 0 else 0
        if fit > best[0]:
            best, place = score, number
    return place, best


def _names(header: Iterable[str], wanted: Collection[str]) -> tuple[str, ...]:
    """The names in a header, without the apostrophes that ceibo wrote.

    A name that is wanted with its apostrophes, and not without, keeps them.
    """
    names = {normalize(name) for name in wanted}
    plain = ((name, unguard(name)) for name in header)

    def is_own(name: str, bare: str) -> bool:
        return normalize(name) in names and normalize(bare) not in names

    return tuple(name if is_own(name, bare) else bare for name, bare in plain)
