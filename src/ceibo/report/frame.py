"""The frame of a piece of HTML in a notebook: its style, its tables, its small picture.

It has one colour of its own: text is the notebook's, and lines are a translucent grey, so that it
is readable on light and on dark pages, whatever decides which of them it is.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from ceibo.report.svg import px, text_of

_STYLE: Final = (
    ".ceibo{font:13px/1.45 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;color:inherit;"
    "max-width:760px;border:1px solid rgba(128,128,128,.35);border-radius:8px;padding:10px 14px;"
    "overflow-x:auto;overflow-wrap:anywhere}"
    ".ceibo td,.ceibo th{max-width:320px}"
    ".ceibo p{margin:2px 0;padding:0}.ceibo .ceibo-soft{opacity:.72}"
    ".ceibo .ceibo-big{font-size:20px;font-weight:600;line-height:1.35}"
    ".ceibo .ceibo-doubt{border-left:3px solid #d97706;padding-left:8px}"
    ".ceibo table{border-collapse:collapse;margin:6px 0 2px;border:0;"
    "font-variant-numeric:tabular-nums}"
    # twice the class, as notebooks have styles of their own for tables
    ".ceibo.ceibo tr{background:transparent!important}"
    ".ceibo.ceibo th,.ceibo.ceibo td{text-align:left;vertical-align:top;padding:3px 16px 3px 0;"
    "border:0;border-bottom:1px solid rgba(128,128,128,.25);background:transparent;color:inherit}"
    ".ceibo th{font-weight:600;opacity:.72}.ceibo td.ceibo-short{white-space:nowrap}"
    ".ceibo svg{display:block;margin:6px 0;max-width:100%;height:auto}"
    ".ceibo .ceibo-dot{fill:currentColor;opacity:.45}.ceibo .ceibo-best{fill:#3b82f6}"
    ".ceibo .ceibo-base{stroke:currentColor;opacity:.25}"
)
_WIDTH, _HEIGHT, _EDGE = 420, 64, 5
_MOST_DOTS: Final = 400
_SHORT: Final = 28  # characters of a cell that are not broken into lines


def frame(*parts: str) -> str:
    """The parts, which are HTML, with their style."""
    return f'<div class="ceibo"><style>{_STYLE}</style>{"".join(parts)}</div>'


def line(text: object, kind: str = "", limit: int = 400) -> str:
    """A paragraph of text."""
    mark = f' class="ceibo-{kind}"' if kind else ""
    return f"<p{mark}>{text_of(text, limit)}</p>"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of texts and numbers; without rows there is none."""
    body = [f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows]
    if not body:
        return ""
    head = "".join(f'<th scope="col">{text_of(each, 60)}</th>' for each in heads)
    top = f"<thead><tr>{head}</tr></thead>" if any(heads) else ""
    return f"<table>{top}<tbody>{''.join(body)}</tbody></table>"


def _cell(value: object) -> str:
    text = text_of(value, 80)
    kind = ' class="ceibo-short"' if len(text) <= _SHORT else ""
    return f"<td{kind}>{text}</td>"


def dots(values: Sequence[tuple[int, float]], best: int | None, label: str) -> str:
    """The values over the numbers of their trials, as a small picture; the best one is marked."""
    seen = [(number, value) for number, value in values if math.isfinite(value)]
    if len(seen) < 2:
        return ""
    step = -(-len(seen) // _MOST_DOTS)
    kept = [each for place, each in enumerate(seen) if place % step == 0 or each[0] == best]
    low, high = (end([value for _, value in seen]) for end in (min, max))
    # a quarter of them, as differences of the largest doubles are no numbers
    height, last = high / 4 - low / 4, max(number for number, _ in seen)
    marks = []
    for number, value in sorted(kept, key=lambda each: each[0] == best):
        share = (value / 4 - low / 4) / height if height > 0 else 0.5
        x = _EDGE + (_WIDTH - 2 * _EDGE) * (number / last if last else 0.5)
        y = _HEIGHT - _EDGE - (_HEIGHT - 2 * _EDGE) * share
        kind, radius = ("ceibo-best", 4) if number == best else ("ceibo-dot", 2)
        marks.append(f'<circle class="{kind}" cx="{px(x)}" cy="{px(y)}" r="{radius}"/>')
    base = f'<line class="ceibo-base" x1="0" x2="{_WIDTH}" y1="{_HEIGHT}" y2="{_HEIGHT}"/>'
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    return f'<svg {size} role="img" aria-label="{text_of(label)}">{base}{"".join(marks)}</svg>'
