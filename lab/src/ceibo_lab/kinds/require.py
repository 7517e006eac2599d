"""What cells need, checked before any of them is run: names that exist, data that are there."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from ceibo.errors import InputError
from ceibo_lab.inputs import InputRun
from ceibo_lab.method import Entry
from ceibo_lab.methods import LABELS, METHODS, SUITE, method
from ceibo_lab.methods.inputs import BRANCHING, INPUT_METHODS, RULING, input_method
from ceibo_lab.methods.outcomes import OUTCOME_METHODS, outcome_method
from ceibo_lab.noise import NoisyProblem
from ceibo_lab.optional import LAB, MissingPackageError, optional
from ceibo_lab.outcomes import OutcomeRun
from ceibo_lab.plans.compression import NOISES, TITLES
from ceibo_lab.plans.special import DRAW_WIDTHS
from ceibo_lab.plans.suite import suite_problem
from ceibo_lab.problems import problem
from ceibo_lab.problems.inputs import BRANCHED, RULED, input_problem
from ceibo_lab.problems.outcomes import outcome_problem
from ceibo_lab.problems.tables import TABLES
from ceibo_lab.record import Cell

_CONSTANT: Final = ("homoscedastic", "homoscedastic-untold", "noiseless")
# Methods of a kind, where they are not those of the paper's experiments.
_TABLES: Final[dict[str, Mapping[str, Entry[Any, Any]]]] = {
    "suite": SUITE,
    **dict.fromkeys(("limits", "starts", "fronts"), OUTCOME_METHODS),
    **dict.fromkeys(("rules", "branches"), INPUT_METHODS),
}


def require(cells: Iterable[Cell]) -> None:
    """Raises an error that says what is wrong with one of the cells, or missing on this machine."""
    every = list(cells)
    if any(cell.seed < 0 for cell in every):
        raise InputError("a seed is a whole number from 0.")
    alike = dict.fromkeys(replace(cell, seed=0, steps=0) for cell in every)
    for cell in alike:
        if cell.kind == "draws":
            _one_of("method", cell.method, LABELS)
            _one_of("problem", cell.problem, [f"gp-draw-{width}" for width in DRAW_WIDTHS])
        elif cell.kind == "compression":
            method(cell.method)
            _one_of("problem", cell.problem, TITLES)
            _one_of("noise", cell.protocol, NOISES)
        elif cell.kind in ("limits", "starts", "fronts"):
            _check_outcomes(cell)
        elif cell.kind in ("rules", "branches"):
            _check_inputs(cell)
        else:
            method(cell.method, SUITE if cell.kind == "suite" else METHODS)
            _check_noise(cell)
        _check_packages(cell)
    if tasks := dict.fromkeys(cell.problem for cell in alike if cell.kind == "compression"):
        with optional("compressing networks", f"{LAB}[compression]"):
            from ceibo_lab.kinds.compression import require_files

        require_files(tasks)


def entry_of(cell: Cell) -> Entry[Any, Any] | None:
    """The method of a cell in the table of its kind; None if it has none there."""
    return _TABLES.get(cell.kind, METHODS).get(cell.method)


def lacking(cell: Cell) -> str | None:
    """Why a cell cannot be run on this machine; None if it can."""
    try:
        require([cell])
    except InputError as error:
        return str(error)
    return None


def _check_packages(cell: Cell) -> None:
    """The packages of the method: a run without them would say nothing of the cell."""
    entry = entry_of(cell)
    if entry is None:
        return
    if missing := [name for name in entry.packages if not _is_installed(name)]:
        install = entry.install or f"pip install {' '.join(missing)}"
        raise MissingPackageError(f"{cell.method} needs {', '.join(missing)}: {install}.")


def _is_installed(package: str) -> bool:
    """Whether a distribution of that name is installed; its modules may have other names."""
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def _check_noise(cell: Cell) -> None:
    """A problem that exists, can be judged by its kind, and has noise of this protocol."""
    if cell.kind == "suite":
        target = suite_problem(cell.problem, 0)
        if method(cell.method, SUITE).only_numbers and target.space.categorical:
            raise InputError(f"{cell.method} has no categories, and {cell.problem} has some.")
    else:
        target = problem(cell.problem, cell.variant)
        if target.parameters is not None:
            raise InputError(f"{cell.problem} has no optimisers to measure distances to.")
    NoisyProblem(target, cell.protocol, cell.level, 0)
    if cell.protocol.startswith("measured"):
        _one_of(f"problem under {cell.protocol} noise", cell.problem, TABLES)


def _check_outcomes(cell: Cell) -> None:
    """A problem with the goals and limits that its kind is about, a method, and its noise."""
    outcome_method(cell.method)
    target = outcome_problem(cell.problem)
    if (target.goals == 1) == (cell.kind == "fronts"):
        raise InputError(f"{cell.problem} has {target.goals} goals: not a problem for {cell.kind}.")
    _one_of("protocol", cell.protocol, _CONSTANT)
    OutcomeRun.begin(target, cell.protocol, cell.level, 0)


def _check_inputs(cell: Cell) -> None:
    """A problem of its kind, a method for it, and its noise."""
    method, branched = input_method(cell.method), cell.kind == "branches"
    _one_of("problem", cell.problem, BRANCHED if branched else RULED)
    _one_of(f"method for {cell.kind}", cell.method, BRANCHING if branched else RULING)
    _one_of("protocol", cell.protocol, _CONSTANT)
    target = input_problem(cell.problem)
    InputRun.begin(target, cell.protocol, cell.level, 0)
    method.start(target, 0)


def _one_of(what: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise InputError(f"{what} must be one of {', '.join(known)}, got {name!r}.")
