"""Tables of names that other packages may add to: kernels, acquisitions, types of dimension."""

from collections.abc import Iterator, Mapping
from importlib import metadata
from typing import TypeVar, final

from ceibo.errors import InputError

T = TypeVar("T")


@final
class Registry(Mapping[str, T]):
    """What each name stands for; a read-only mapping but for `add`.

    A name that is not known is looked for among the entry points of installed packages, in the
    group `group`. The value of such an entry point is a module that adds the name when imported.

    Args:
        kind: what the names are names of, as messages call it.
        group: of the entry points.
    """

    def __init__(self, kind: str, group: str) -> None:
        self._kind, self._group = kind, group
        self._items: dict[str, T] = {}

    def add(self, name: str, item: T) -> None:
        """Adds a name; a class or function that is defined again, as in a notebook, is replaced."""
        known = self._items.setdefault(name, item)
        if known != item and _origin(known) != _origin(item):
            raise InputError(
                f"{self._kind} must have a name that is not taken, got {name!r} for {item!r}, which"
                f" is the name of {known!r}."
            )
        self._items[name] = item

    def find(self, name: object, also: tuple[str, ...] = ()) -> T:
        """What `name` stands for; if nothing, an InputError lists the names, with those in `also`.

        Args:
            name: as a user gave it.
            also: names that the caller understands without this table.
        """
        if isinstance(name, str) and name in self:
            return self[name]
        installed = (point.name for point in metadata.entry_points(group=self._group))
        known = ", ".join(dict.fromkeys([*also, *self._items, *installed]))
        raise InputError(
            f"{self._kind} must be one of {known}, got {name!r}. If a package adds it, install or"
            " import that package first."
        )

    def load_installed(self) -> "Registry[T]":
        """Adds the names of all installed packages; returns the table itself."""
        for point in metadata.entry_points(group=self._group):
            point.load()
        return self

    def __getitem__(self, name: str) -> T:
        if name not in self._items:
            for point in metadata.entry_points(group=self._group, name=name):
                point.load()
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


def _origin(item: object) -> object:
    """Where a class or a function was defined; anything else is its own origin."""
    if not hasattr(item, "__qualname__"):
        return item
    return item.__module__, item.__qualname__
