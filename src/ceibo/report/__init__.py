"""One self-contained HTML page about a study, for screens of any size and for paper."""

from pathlib import Path

from ceibo.files import write_whole
from ceibo.report.facts import gather
from ceibo.report.joint.facts import gather_jointly
from ceibo.report.page import render
from ceibo.study import Study
from ceibo.study.store.garbage import no_collections

__all__ = ["render_report", "write_report"]


def render_report(study: Study, *, cost: float | None = None, refresh: float | None = None) -> str:
    """Returns the report of a study as HTML.

    Args:
        study: to report on.
        cost: price of a measurement, in the objective's units; shows what the stopping rule says.
            With several goals there is no such price, and it is left out.
        refresh: seconds after which the open page loads itself again, for a report that is written
            anew.
    """
    with no_collections():
        facts = gather(study, cost) if study.outcomes is None else gather_jointly(study, cost)
        return render(facts, refresh)


def write_report(
    study: Study, path: str | Path, *, cost: float | None = None, refresh: float | None = None
) -> None:
    """Writes the report in one step, so that a reader sees the old page or the new one, whole."""
    write_whole(path, render_report(study, cost=cost, refresh=refresh))
