"""Giving a study another space."""

from collections.abc import Mapping
from dataclasses import replace

from ceibo.decide.space import Space, SpaceLike
from ceibo.errors import SpaceChangedError
from ceibo.study.ledger import Ledger
from ceibo.study.picking import FREE, picking_for
from ceibo.study.spaces import change_data


def change(ledger: Ledger, space: SpaceLike, before: Mapping[str, object] | None) -> None:
    """Records another space, unless it is the one that the study has."""
    new = Space(space)
    while True:
        ledger.refresh()
        known = len(ledger.changes)
        if ledger.frame.is_same(new):
            return
        frame = ledger.frame.after(new, before)
        picking = replace(picking_for(frame, known + 1, FREE), known=known)
        try:
            ledger.store.change_space(ledger.id, change_data(new, before), picking)
        except SpaceChangedError:
            continue  # another process was first, and the change may mean something else now
        ledger.refresh()
        return
