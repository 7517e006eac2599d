"""Pictures of a study, drawn with Matplotlib. Needs matplotlib.

    import ceibo
    axes = ceibo.plots.progress(study)          # what was measured, and what is believed to be best
    ceibo.plots.slices(study)                   # the model along each parameter
    ceibo.plots.contour(study, ["temp", "time"])
    ceibo.plots.importance(study)
    ceibo.plots.parity(study)                   # measured beside predicted without it
    ceibo.plots.front(study)                    # of several goals

Each takes a study or the result of a run, draws on the axes given or on new ones, and returns them.
Of several outcomes, `outcome=` says which. No setting of Matplotlib is changed.
"""

try:
    import matplotlib  # noqa: F401 - for the message
except ImportError as error:
    raise ImportError(
        "ceibo.plots needs Matplotlib 3.8 or newer: pip install 'path/to/the/clone[plots]'"
    ) from error

from ceibo.plots.contour import contour
from ceibo.plots.front import front
from ceibo.plots.importance import importance
from ceibo.plots.parity import parity
from ceibo.plots.progress import progress
from ceibo.plots.slices import slices

__all__ = ["contour", "front", "importance", "parity", "progress", "slices"]
