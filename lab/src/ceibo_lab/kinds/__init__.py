"""Kinds of replication by name: what is done in a cell, and what its record says of it."""

from collections.abc import Callable
from typing import Any, Final

from ceibo_lab.kinds.benchmark import optimise
from ceibo_lab.kinds.inputs import inputs
from ceibo_lab.kinds.outcomes import fronts, limits, starts
from ceibo_lab.kinds.special import cost, draws, scenario, theory_run
from ceibo_lab.kinds.suite import suite
from ceibo_lab.record import Cell
from ceibo_lab.run import Watch

Kind = Callable[[Cell, Watch], dict[str, Any]]


def compression(cell: Cell, watch: Watch) -> dict[str, Any]:
    """A search for the ranks of a network, which needs torch."""
    from ceibo_lab.kinds.compression import compression as run

    return run(cell, watch)


KINDS: Final[dict[str, Kind]] = {
    "optimise": optimise,
    "draws": draws,
    "scenario": scenario,
    "cost": cost,
    "theory": theory_run,
    "compression": compression,
    "suite": suite,
    "limits": limits,
    "starts": starts,
    "fronts": fronts,
    "rules": inputs,
    "branches": inputs,
}
