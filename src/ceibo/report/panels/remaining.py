"""What one more measurement promises, against its price, and the profit of those made."""

from dataclasses import replace
from functools import partial
from itertools import chain, pairwise

from ceibo.decide import Direction
from ceibo.decide.surface.spread import spread
from ceibo.decide.surface.standings import Standing
from ceibo.numbers import rounded, with_uncertainty
from ceibo.report.axes import y_axis
from ceibo.report.facts import Facts, Findings
from ceibo.report.labels import width_of
from ceibo.report.parts import Size, legend, panel, trial_axis, two_sizes
from ceibo.report.svg import Canvas, Scale, text_of
from ceibo.report.thinning import MOST_DOTS
from ceibo.text import plural

_MOST_DOTS = 80
_PRICE_ROOM = 120  # pixels that the price needs, at the left


def remaining(facts: Facts) -> str:
    """The panel of the stopping rule; empty before the first measurement."""
    findings = facts.findings
    if findings is None:
        return ""
    drawings = two_sizes(partial(_draw, facts, findings), (960, 270), (400, 225))
    if findings.verdict is None:
        note = (
            "No price is set. With <code>cost</code> under <code>[stop]</code> the study ends when"
            " none pays."
        )
    else:
        price = findings.verdict.cost
        profits = _profits(facts, findings, price)
        drawings += two_sizes(partial(_draw_profits, facts, profits), (960, 223), (400, 186))
        note = text_of(findings.verdict.message.capitalize()) + " "
        stop = _stopping_point(facts, findings, price)
        if stop is not None:
            note += f"The rule stops at trial {stop}. "
        note += _profit_text(facts, profits[-1])
    keys = [("key-gain", "largest expected improvement")]
    if findings.verdict is not None:
        keys.append(("key-price", "price of a measurement, κ"))
    title = "Is another measurement worth its price?"
    return panel("remaining", title, drawings, note, legend(*keys))


def _draw(facts: Facts, findings: Findings, size: Size) -> Canvas:
    canvas = Canvas(*size, "Largest expected improvement over trials, logarithmic", left=68)
    gains = [(trial, gain) for trial, gain in findings.gains if gain > 0]
    shown = [gain for _, gain in gains]
    if findings.verdict is not None:
        shown.append(findings.verdict.cost)
    y = Scale.over(shown, canvas.up, log=True)
    y_axis(canvas, y, "expected improvement", 4)
    x = trial_axis(canvas, len(facts.trials))
    gains = spread(gains, MOST_DOTS)
    canvas.line([(x(trial), y(gain)) for trial, gain in gains], "gain")
    if len(gains) <= _MOST_DOTS:
        for trial, gain in gains:
            title = f"before trial {trial}: {rounded(gain, 3)}"
            canvas.dot(x(trial), y(gain), 2.2, "gain-dot", title)
    if findings.verdict is not None:
        price = findings.verdict.cost
        _draw_price(canvas, x, y, price, _stopping_point(facts, findings, price))
    return canvas


def _draw_price(canvas: Canvas, x: Scale, y: Scale, price: float, stop: int | None) -> None:
    """The price, and the trial at which the rule stops."""
    left, right = canvas.across
    text = f"κ = {rounded(price)}"
    canvas.segment((left, y(price)), (right, y(price)), "price")
    below = y(price) - 5 < canvas.up[1] + 12
    canvas.write(left + 4, y(price) + (13 if below else -5), text, kind="price-text")
    if stop is None:
        return
    canvas.segment((x(stop), canvas.up[0]), (x(stop), canvas.up[1]), "stop")
    text = f"stop at {stop}"
    # on the other side of the line where it would leave the frame, and not over the price
    fits = x(stop) - left - width_of(text) > _PRICE_ROOM
    anchor, shift = ("end", -4) if fits else ("start", 4)
    height = canvas.up[1] + 12
    if not fits and y(price) < canvas.up[1] + 40:
        height = canvas.up[0] - 8
    canvas.write(x(stop) + shift, height, text, anchor, "stop-text")


def _stopping_point(facts: Facts, findings: Findings, price: float) -> int | None:
    """The first trial before which the expected improvement was below the price twice in a row."""
    gains = [gain for gain in findings.gains if gain[0] >= facts.initial]
    for (_, earlier), (trial, later) in pairwise(gains):
        if earlier < price and later < price:
            return trial
    return None


def _paid(facts: Facts) -> list[int]:
    """Evaluations that were paid before each trial and now: of ended trials, after the initial."""
    evaluations = [0]
    for each in facts.trials:
        count = 0
        if each.state in ("done", "failed"):
            repeats = max(len(each.measurements), 1)
            count = max(map(len, each.outcomes.values()), default=repeats)
        evaluations.append(evaluations[-1] + count)
    return [max(count - facts.initial, 0) for count in evaluations]


def _profits(facts: Facts, findings: Findings, price: float) -> list[Standing]:
    """What the best setting is worth less the price of the evaluations until then."""
    paid, worth = _paid(facts), facts.direction
    return [
        replace(each, mean=-worth.flip(each.mean) - price * paid[min(each.number, len(paid) - 1)])
        for each in findings.standings
    ]


def _draw_profits(facts: Facts, profits: list[Standing], size: Size) -> Canvas:
    canvas = Canvas(*size, "Profit over trials", left=68)
    shown = [each for each in profits if each.number >= facts.initial] or profits
    y = Scale.over(chain(*(each.band for each in shown)), canvas.up)
    y_axis(canvas, y, "profit", 4)
    x = trial_axis(canvas, len(facts.trials))
    lower = [(x(each.number), y(each.band[0])) for each in shown]
    upper = [(x(each.number), y(each.band[1])) for each in shown]
    canvas.band(upper, lower, "profit-band")
    canvas.line([(x(each.number), y(each.mean)) for each in shown], "profit")
    return canvas


def _profit_text(facts: Facts, profit: Standing) -> str:
    count = plural(_paid(facts)[-1], "evaluation")
    value = "minus the value" if facts.direction is Direction.MINIMIZE else "the value"
    return (
        f"Profit now: {with_uncertainty(profit.mean, profit.std)}, that is {value} of the best"
        f" setting less κ × {count} after the initial design."
    )
