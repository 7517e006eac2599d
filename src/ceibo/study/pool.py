"""Pools of processes: what they can be sent, and a new one in place of one that broke."""

from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing.reduction import ForkingPickler
from typing import Final

from ceibo.errors import InputError

# the arguments of a pool, each of which it keeps under its name after an underscore
_ARGUMENTS: Final = ("max_workers", "mp_context", "initializer", "initargs", "max_tasks_per_child")


def rebuilt(executor: Executor) -> Executor | None:
    """A new pool like one that broke; None for an executor that only its maker can make again."""
    if type(executor) is not ProcessPoolExecutor:
        return None
    try:
        given = {name: getattr(executor, f"_{name}") for name in _ARGUMENTS}
    except AttributeError:  # another version of Python
        return None
    return ProcessPoolExecutor(**given)


def check_sendable(objective: object, executor: Executor | None) -> None:
    """Refuses, before any trial, an objective that a pool of processes cannot be sent.

    Executors that send functions in ways of their own (Dask, loky) are left to do so.
    """
    if type(executor) is not ProcessPoolExecutor:
        return
    try:
        ForkingPickler.dumps(objective)
    except Exception as error:  # whatever the object's own code raises
        raise InputError(
            "expected an objective that can be sent to the processes of a ProcessPoolExecutor, got"
            f" {objective!r}: {error}; write it as a function with `def` at the top level of a"
            " module, which takes nothing with it but what can be pickled, or use a"
            " ThreadPoolExecutor."
        ) from error
