"""The verbs of `ceibo`, one small file each, which is imported when its verb is called."""

import keyword
from collections.abc import Callable
from importlib import import_module
from typing import Final

VERBS: Final = {
    "init": "Write a commented study file to edit.",
    "run": "Measure until a limit of [stop] is reached.",
    "ask": "Hand out the next trial to measure.",
    "sheet": "Write what to measure as a worksheet, or read it back.",
    "confirm": "Hand out a last look: trials that make the answer surer.",
    "tell": "Record the measurement of a trial, or that it failed.",
    "correct": "Replace a measurement that was told wrongly.",
    "enqueue": "Queue settings of your own, which are measured first.",
    "void": "Take back a measurement that must not count.",
    "change": "Go on with the space of the edited file.",
    "best": "The best setting measured, and the recommended one.",
    "predict": "Say what is believed at settings, measured or not.",
    "show": "List the trials, or show one in full.",
    "should-stop": "Say whether another measurement is worth its price.",
    "report": "Write a self-contained HTML report that works offline.",
    "serve": "Open the study as a page: what to do next, the answer.",
    "studies": "List the studies of a database.",
    "doctor": "Examine a database: versions, damage, lost trials.",
    "export": "Write all trials as CSV or JSON.",
    "import": "Add existing measurements and failures from a table.",
    "backup": "Copy a database with all its studies to one new file.",
    "backtest": "Replay the search among past measurements.",
}
"""The verbs as `ceibo --help` lists them. `should-stop` is the function should_stop of the module
should_stop; `import`, which Python keeps to itself, is import_ of import_."""


WITH_NUMBERS: Final = ("tell", "correct", "enqueue", "predict")
"""The verbs to which -0.5 is a value, not an option."""


def verb(name: str) -> Callable[..., None]:
    """The function that is a verb; its module is imported."""
    python = name.replace("-", "_") + "_" * keyword.iskeyword(name)
    module = import_module(f"{__name__}.{python}")
    function: Callable[..., None] = getattr(module, python)
    return function
