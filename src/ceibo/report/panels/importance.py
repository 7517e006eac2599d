"""How much each parameter matters, as bars of the shares of variance."""

from functools import partial
from typing import Final

from ceibo.decide import Space
from ceibo.decide.surface.sensitivity import MOST_PARAMETERS, Importance
from ceibo.report.axes import make_room_for
from ceibo.report.facts import Facts
from ceibo.report.parts import Size, legend, panel, two_sizes
from ceibo.report.svg import Canvas, Scale, px, title_of
from ceibo.text import plural, shorten_apart

_RULES_NOTE: Final = (
    " The space is where the rules hold. A parameter of an equality takes the others of it along,"
    " so that shares overlap and may add up to more than everything."
)
_ROW = 26  # pixels


def importance(facts: Facts) -> str:
    """The panel of importance; empty before the first measurement."""
    if facts.findings is None:
        return ""
    space = facts.study.space
    rows = min(len(space), MOST_PARAMETERS)
    height = height_of(rows)
    draw = partial(draw_importance, space, facts.findings.importance)
    drawings = two_sizes(draw, (960, height), (400, height))
    return panel_of(space, drawings, rows, len(facts.measured), "the fitted surface")


def panel_of(space: Space, body: str, rows: int, measured: int, surface: str) -> str:
    """The panel of drawings of so many rows, from so many measured trials."""
    note = (
        f"Share of the variation of {surface} over the whole space that would be gone if"
        " the parameter were fixed (Sobol indices of the posterior mean): dark, the parameter on"
        " its own; light, together with others. This is what the model believes after"
        f" {plural(measured, 'measured trial')}, not a property of the process: a parameter that"
        " was hardly varied, or only where it does little, looks unimportant too. Vary it on"
        " purpose before leaving it alone."
    )
    if space.rules:
        note += _RULES_NOTE
    if rows < len(space):
        note += f" Of {len(space):,} parameters the {rows} that matter most are shown."
    keys = legend(("key-alone", "on its own"), ("key-together", "together with others"))
    return panel("importance", "Which parameters matter", body, note, keys)


def height_of(rows: int) -> int:
    """The pixels that a drawing of so many parameters needs."""
    return _ROW * rows + 40


def draw_importance(space: Space, shares: Importance, size: Size) -> Canvas:
    """A bar per parameter, most important first, as many as there is room for."""
    canvas = Canvas(*size, "Importance of the parameters", left=104, right=26, bottom=30)
    letters = 20 if canvas.is_wide else 13  # of a name
    rows = round((canvas.up[0] - canvas.up[1]) / _ROW)
    shown = shares.order[:rows]
    names = shorten_apart([space.names[column] for column in shown], letters)
    make_room_for(canvas, names)
    x = Scale(0, 1, *canvas.across)
    bottom, top = canvas.up
    for tick in x.ticks():
        canvas.segment((x(tick), bottom), (x(tick), top), "grid")
        canvas.write(x(tick), bottom + 16, f"{100 * tick:.0f} %", "middle")
    for row, column in enumerate(shown):
        name = space.names[column]
        total, alone = float(shares.total[column]), float(shares.alone[column])
        title = f"{name}: {100 * alone:.0f} % alone, {100 * total:.0f} % in all"
        height = top + _ROW * row + 5
        _bar(canvas, x, total, height, "together", title)
        _bar(canvas, x, alone, height, "alone", title)
        canvas.write(canvas.left - 8, height + 12, names[row], "end")
    return canvas


def _bar(canvas: Canvas, x: Scale, share: float, top: float, kind: str, title: str) -> None:
    box = f'x="{px(x(0))}" y="{top}" width="{px(x(share) - x(0))}" height="16"'
    canvas.add(f'<rect class="{kind}" {box} rx="2">{title_of(title)}</rect>')
