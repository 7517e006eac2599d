"""One ask's place among the workers that ask at the same time."""

import random
import time
import uuid
from typing import Final, final

from ceibo.study.store import Store

SHORTEST: Final = 0.5
"""Seconds that a turn lasts at least; in all it lasts three times what the last suggestion took."""
# Seconds between looks at another's turn: the second is 1/2 of the first, the third 1/3, and so on.
# Thus those who wait for long look more often, and go before those who come back for more.
_FIRST, _POLL = 0.08, 0.01
# Not the shared generator: that would move the objective's seeded random numbers.
_PAUSES: Final = random.SystemRandom()


@final
class Turn:
    """The turn of a study as one ask wants, takes and gives it back.

    Nothing is asked of the database until it is `wanted`: because a suggestion was computed in
    vain, or because that happened to the ask before and may happen again. `crowded` says that
    others ask too, `looks` how often it was another's turn.
    """

    def __init__(self, store: Store, study_id: int, wanted: bool) -> None:
        self.wanted = wanted
        self.crowded = False
        self.looks = 0
        self._store, self._study_id = store, study_id
        self._token: str | None = None
        if wanted:
            self._pause()

    @property
    def token(self) -> str | None:
        """What stands for this ask in the database while it holds the turn."""
        return self._token

    def take(self, suggesting: float) -> bool:
        """Takes or renews the turn, or waits a moment; `suggesting` is the time of a suggestion."""
        token = self._token or uuid.uuid4().hex
        if self._store.take_turn(self._study_id, token, max(3.0 * suggesting, SHORTEST)):
            self._token = token
            return True
        self._token = None
        self.crowded = True
        self._pause()
        return False

    def _pause(self) -> None:
        self.looks += 1
        time.sleep(max(_FIRST / self.looks, _POLL) * _PAUSES.uniform(0.5, 1.0))

    def give_back(self) -> None:
        """Lets others go on, if this ask held the turn and recorded nothing."""
        if self._token is not None:
            self._store.give_turn(self._study_id, self._token)
            self._token = None

    def end(self) -> None:
        """Notes that the suggestion is recorded, which has ended the turn."""
        self._token = None
