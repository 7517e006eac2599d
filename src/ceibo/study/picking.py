"""What a call holds, and which of the trials that wait it can therefore take."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, final

from ceibo.decide.dimensions.choices import identity
from ceibo.decide.frame import Frame
from ceibo.decide.record import is_to_confirm
from ceibo.decide.space import Params
from ceibo.errors import InputError
from ceibo.study.store import Pick, Picking

COMPUTED: Final = ("initial", "model")
"""The sources of suggestions that ceibo made, unlike those of settings that a user gave."""


@final
@dataclass(frozen=True)
class Holding:
    """The parameters that are held: at these values, or `shared`, at one that is still open.

    With `dial` a new suggestion is rounded to what a person can set.
    With `confirm` the call is for trials that go into the answer, and leaves others in the queue.
    """

    fixed: Params = field(default_factory=dict)
    shared: tuple[str, ...] = ()
    dial: bool = False
    confirm: bool = False


FREE: Final = Holding()
"""Nothing is held."""


def picking_for(frame: Frame, known: int, holding: Holding) -> Picking:
    """Which trials to take of those that wait, in a space that has changed so many times.

    A suggestion of ceibo's that is no setting of the space any more is withdrawn. A setting that a
    user enqueued stays, whatever has changed since.
    """
    if not known and holding == FREE:
        return Picking(known)

    def judge(params: Mapping[str, Any], suggestion: Any) -> Pick:
        if (suggestion or {}).get("source") in COMPUTED and not frame.fits(params):
            return Pick.WITHDRAW
        if holding.confirm and not is_to_confirm(suggestion or {}):
            return Pick.LEAVE
        return Pick.TAKE if matches(frame, params, holding) else Pick.LEAVE

    return Picking(known, judge)


def matches(frame: Frame, params: Mapping[str, Any], holding: Holding) -> bool:
    """Whether a setting has the held values, and of what is shared one that others can have."""
    whole = frame.complete(params)
    for name, value in holding.fixed.items():
        if name not in whole or identity(whole[name]) != identity(value):
            return False
    try:
        for name in holding.shared:
            if name in whole:
                frame.space.dimensions[name].check(whole[name], name)
    except InputError:
        return False
    return True
