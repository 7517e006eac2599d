"""Pools of processes: a new one in place of one that broke."""

from concurrent.futures import Executor, ProcessPoolExecutor
from typing import Final

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
