"""The figures of the page: corrected EI against EI cell by cell, and Figure 1's scenario."""

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from ceibo_lab.compare import Row
from ceibo_lab.figures import SETTINGS, Figure, draw_plan, scenario
from ceibo_lab.library import Library
from ceibo_lab.plans.benchmark import MARGIN
from ceibo_lab.remarks import scenario_caption
from pages.replication.findings import cells, whole


def write_figures(library: Library, folder: Path) -> list[tuple[str, str]]:
    """Draws what there are records for; returns (file name of the PNG, caption) of each."""
    said = dict(captions(library))
    plan = [
        ("cells", said["cells"], lambda: forest(library)),
        ("scenario", said["scenario"], lambda: scenario(library)),
    ]
    return draw_plan(plan, folder, SETTINGS)


def captions(library: Library) -> list[tuple[str, str]]:
    """Each figure's name and caption."""
    words = (
        "Corrected EI against EI in each cell and over all of them: difference in log10 regret of"
        f" `best` with its 95 % interval; left of zero corrected EI is better, grey is ±{MARGIN:g}"
    )
    return [("cells", words), ("scenario", scenario_caption(library))]


def forest(library: Library) -> Figure | None:
    """The interval of every cell, and of their means over the seeds."""
    found = whole(library)
    if found is None:
        return None
    rows: list[Row] = [*cells(library), found.over_seeds("all cells")]
    figure, axis = plt.subplots(figsize=(6.5, 0.6 + 0.22 * len(rows)), constrained_layout=True)
    axis.axvspan(-MARGIN, MARGIN, color="0.9")
    axis.axvline(0.0, color="black", linewidth=0.6)
    for place, row in enumerate(rows):
        estimate, low, high = row.comparison.interval
        last = place == len(rows) - 1
        look: dict[str, Any] = {"color": "black" if last else "#2166ac"}
        if np.isfinite(low):
            axis.plot([low, high], [place, place], linewidth=2.0 if last else 1.2, **look)
        axis.plot(estimate, place, marker="D" if last else "o", markersize=4, **look)
    names = [f"{row.label.partition(':')[0]} (n = {row.comparison.n})" for row in rows]
    axis.set_yticks(range(len(rows)), names)
    axis.invert_yaxis()
    axis.set_xlabel("corrected EI − EI, log10 regret of `best` at the end")
    return figure
