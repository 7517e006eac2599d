"""A worksheet as CSV."""

from collections.abc import Sequence

from ceibo.sheets.cells import guard
from ceibo.sheets.plan import Content, Number, PlanColumn, rows_of_plan
from ceibo.sheets.text_form import TextForm


def to_text(columns: Sequence[PlanColumn], form: TextForm) -> str:
    """The worksheet as CSV; no cell is one that a spreadsheet program runs."""

    def cell(content: Content) -> str:
        if isinstance(content, Number):
            return content.text().replace(".", form.decimal)
        return "" if content is None else guard(content)

    header = [guard(each.header) for each in columns]
    return form.table([header, *(map(cell, row) for row in rows_of_plan(columns))])
