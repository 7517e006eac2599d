"""Signals that end a run: the first one ends it in order, more of them do not disturb that."""

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, Self, final

PATIENCE: Final = 10.0
"""Seconds after the first signal from which a further one raises KeyboardInterrupt after all."""


@final
class Interrupts:
    """Receives signals between `__enter__` and `__exit__`; `number` is the first that came.

    With `raising` the first one raises KeyboardInterrupt at once, wherever the main thread is, so
    that it also ends an objective. Where code must not be torn apart, `spared` says so of its
    frame, and the signal is noted. Without `raising` it is only noted, and the process ends by
    itself soon.
    Signals that are ignored (nohup, a job in the background of a script) stay so, and a handler of
    the caller's for Ctrl-C is left in place.
    """

    def __init__(
        self,
        numbers: tuple[int, ...] = (signal.SIGINT,),
        raising: bool = True,
        spared: Callable[[FrameType | None], bool] = lambda _: False,
    ) -> None:
        self.number: int | None = None
        self._numbers, self._raising = numbers, raising
        self._spared = spared
        self._since = 0.0
        self._earlier: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in self._numbers:
                if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                    self._earlier[number] = signal.signal(number, self._receive)
        return self

    def __exit__(self, *_: object) -> None:
        while self._earlier:
            number, earlier = self._earlier.popitem()
            # A process that a signal ends must not be ended once more on its way out.
            ends = self.number is not None and not self._raising
            signal.signal(number, signal.SIG_IGN if ends else earlier)

    def rearm(self) -> None:
        """Forgets a signal whose KeyboardInterrupt was caught before it reached the run."""
        if self._raising:
            self.number = None

    def _receive(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        first = self.number is None
        if first:
            self.number, self._since = number, now
        at_once = first and self._raising and not self._spared(frame)
        if at_once or now - self._since > PATIENCE:
            raise KeyboardInterrupt
