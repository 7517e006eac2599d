"""Bayesian optimisation of noisy, expensive processes, built on corrected expected improvement."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from ceibo import acquisition, gp
from ceibo.attached import attach
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
from ceibo.study import Result, Study, Trial, backtest, current_trial, maximize, minimize, optimize
from ceibo.version import __version__

# What layers above provide to the classes of layers below, which must not import them.
attach(
    {
        "Faces.report": "ceibo.report.notebook:report",
        "Faces.sheet": "ceibo.sheets.sheet:write_sheet",
        "Faces.read_sheet": "ceibo.sheets.reading:read_sheet",
        "Shown._repr_html_": "ceibo.report.notebook:face",
    }
)

if TYPE_CHECKING:
    from ceibo import plots as plots
    from ceibo import report as report
else:

    def __getattr__(name: str) -> ModuleType:
        """ceibo.plots and ceibo.report, which are imported when they are first used."""
        if name in ("plots", "report"):
            return import_module(f"ceibo.{name}")
        raise AttributeError(f"module 'ceibo' has no attribute {name!r}")


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
