"""Bayesian optimisation of noisy, expensive processes, built on corrected expected improvement.

The public names are imported when they are first used, so that a process loads what it needs.
"""

import random
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from ceibo.attached import attach
from ceibo.version import __version__

if TYPE_CHECKING:
    from ceibo import acquisition, gp
    from ceibo import plots as plots
    from ceibo import report as report
    from ceibo.decide import (
        AtLeast,
        AtMost,
        BlockEffect,
        Categorical,
        Closeness,
        Estimate,
        Float,
        Int,
        Maximize,
        Measurement,
        Minimize,
        Ordinal,
        Precision,
        Space,
        StopReason,
        Suspect,
        Watch,
    )
    from ceibo.errors import CeiboError, InputError, StopRun
    from ceibo.sheets.problems import SheetError
    from ceibo.study import Result, Study, Trial, current_trial, maximize, minimize, optimize
    from ceibo.study.backtesting import backtest

_SUBPACKAGES: Final = ("acquisition", "decide", "gp", "plots", "report", "sheets", "study")
_HOMES: Final = {
    "ceibo.decide": (
        "AtLeast",
        "AtMost",
        "BlockEffect",
        "Categorical",
        "Closeness",
        "Estimate",
        "Float",
        "Int",
        "Maximize",
        "Measurement",
        "Minimize",
        "Ordinal",
        "Precision",
        "Space",
        "StopReason",
        "Suspect",
        "Watch",
    ),
    "ceibo.errors": ("CeiboError", "InputError", "StopRun"),
    "ceibo.sheets.problems": ("SheetError",),
    "ceibo.study": (
        "Result",
        "Study",
        "Trial",
        "current_trial",
        "maximize",
        "minimize",
        "optimize",
    ),
    "ceibo.study.backtesting": ("backtest",),
}
"""The module that each public name comes from."""

# What layers above provide to the classes of layers below, which must not import them.
attach(
    {
        "Faces.report": "ceibo.report.notebook:report",
        "Faces.sheet": "ceibo.sheets.sheet:write_sheet",
        "Faces.read_sheet": "ceibo.sheets.reading:read_sheet",
        "Shown._repr_html_": "ceibo.report.notebook:face",
        "new_study": "ceibo.study.receiving:new_study",
    }
)

__all__ = [
    "AtLeast",
    "AtMost",
    "BlockEffect",
    "Categorical",
    "CeiboError",
    "Closeness",
    "Estimate",
    "Float",
    "InputError",
    "Int",
    "Maximize",
    "Measurement",
    "Minimize",
    "Ordinal",
    "Precision",
    "Result",
    "SheetError",
    "Space",
    "StopReason",
    "StopRun",
    "Study",
    "Suspect",
    "Trial",
    "Watch",
    "__version__",
    "acquisition",
    "backtest",
    "current_trial",
    "gp",
    "maximize",
    "minimize",
    "optimize",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """A public name, which is looked up where it is made once, and then kept."""
        if name in _SUBPACKAGES:
            return _imported(f"ceibo.{name}")
        for home, names in _HOMES.items():
            if name in names:
                globals()[name] = getattr(_imported(home), name)
                return globals()[name]
        raise AttributeError(f"module 'ceibo' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*__all__, *_SUBPACKAGES})


def _imported(module: str) -> ModuleType:
    """Imports a module and leaves Python's shared random numbers, of which rich draws, alone."""
    state = random.getstate()
    try:
        return import_module(module)
    finally:
        random.setstate(state)
