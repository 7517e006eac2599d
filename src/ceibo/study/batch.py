"""Asking for one trial or several, while parameters are held."""

from collections.abc import Mapping, Sequence

from ceibo.checks import check_whole
from ceibo.decide.holding import check_fixed, check_names
from ceibo.errors import InputError, NotFoundError, show_value
from ceibo.study.asking import Asking
from ceibo.study.ledger import Ledger
from ceibo.study.picking import Holding
from ceibo.study.store import StoredTrial


def ask_batch(
    asking: Asking,
    count: int | None,
    fixed: Mapping[str, object] | None,
    shared: object,
    dial: bool = False,
    confirm: bool = False,
) -> list[StoredTrial]:
    """As many trials as wanted; the first that has a shared parameter decides its value.

    With `dial` new suggestions are rounded to what a person can set.
    """
    ledger = asking.ledger
    number = 1 if count is None and not confirm else check_whole(count, "count")
    if fixed is not None or shared is not None:
        ledger.refresh()  # the space may have changed
    values = check_fixed(ledger.space, fixed)
    names = _check_shared(ledger, number, shared)
    if both := [name for name in names if name in values]:
        raise InputError(
            f"parameter {both[0]!r} is both fixed and shared; what is fixed is the same in the"
            " whole batch, so leave it out of shared."
        )
    batch: list[StoredTrial] = []
    while len(batch) < number:
        trial = asking.ask(None, None, Holding(values, names, dial=dial, confirm=confirm))
        if trial is None:  # pragma: no cover - only a limit ends in None
            raise NotFoundError("there is no trial to hand out.")
        batch.append(trial)
        whole = ledger.frame.complete(trial.params)
        values = {**values, **{name: whole[name] for name in names if name in whole}}
        names = tuple(name for name in names if name not in values)
    return batch


def _check_shared(ledger: Ledger, count: int, shared: object) -> tuple[str, ...]:
    """The names of the parameters that are to be equal within a batch."""
    if shared is None:
        return ()
    if (
        isinstance(shared, str)
        or not isinstance(shared, Sequence)
        or not all(isinstance(name, str) for name in shared)
    ):
        raise InputError(
            f"shared: expected a list of parameters, as in [{ledger.space.names[0]!r}], got"
            f" {show_value(shared)}."
        )
    names = tuple(dict.fromkeys(shared))
    check_names(ledger.space, names, "shared")
    if names and count == 1:
        raise InputError(
            "shared is what the trials of a batch have in common, and there is one trial only;"
            f" ask for several, as in ask(8, shared=[{names[0]!r}]), or leave it out."
        )
    return names
