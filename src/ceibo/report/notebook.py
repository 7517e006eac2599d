"""What a study, a result, a trial and an estimate look like in a notebook."""

from functools import singledispatch

from ceibo.report import render_report
from ceibo.report.svg import text_of
from ceibo.study import Study
from ceibo.study.page import Page


def report(study: Study, *, cost: float | None = None) -> Page:
    """The report of a study, as a page to look at and to keep."""
    return Page(f"{study.name} · ceibo", render_report(study, cost=cost))


@singledispatch
def face(shown: object) -> str:
    """A compact piece of HTML; without a face of its own, an object shows as its text."""
    return f"<pre>{text_of(shown)}</pre>"
