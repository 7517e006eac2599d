"""The front of two or three goals: pictures with error bars beside the raw front, and a table."""

from collections.abc import Mapping
from functools import partial
from itertools import combinations
from typing import Final

import numpy as np

from ceibo.decide import Direction, Estimate
from ceibo.decide.outcome_words import doubt_about, estimate_text
from ceibo.numbers import percent, rounded
from ceibo.report.axes import x_axis, y_axis
from ceibo.report.joint.facts import JointFacts, JointFindings
from ceibo.report.parts import ABSENT, Size, legend, panel, table_row, value_cell
from ceibo.report.suspicion import suspicion
from ceibo.report.svg import Canvas, Point, Scale, text_of
from ceibo.report.thinning import visible

_SURE: Final = 0.5  # chance of being on the front from which a dot is full

Values = Mapping[int, float]  # by trial


def front(facts: JointFacts) -> str:
    """The panel of the front; empty with one goal and before there is an answer."""
    findings = facts.findings
    if findings is None or not findings.front:
        return ""
    pairs = list(combinations(facts.outcomes.goals, 2))
    pictures = "".join(_pictures(facts, findings, pairs))
    note = (
        "Each dot with bars is a measured setting of which none is expected to be better in every"
        " goal: posterior means ± one standard deviation, pale where the chance of being on the"
        " true front is below one half. The dashed line is the front of the raw values, which noise"
        " flatters: flukes are on it."
    )
    if len(pairs) > 1:
        note += " With three goals a picture shows two of them, and the third decides as well."
    doubt = suspicion(facts.suspects)
    if text := doubt_about(findings.chosen, facts.confidence):
        doubt += f'<p class="doubt">{text_of(text[:1].upper() + text[1:])}</p>'
    keys = legend(
        ("key-incumbent", "front: posterior mean ± std"),
        ("key-measured", "measured"),
        ("key-raw", "front of raw values (naive)"),
    )
    body = pictures + doubt + _table(facts, findings)
    return panel("front", "The front", body, note, keys)


def _pictures(
    facts: JointFacts, findings: JointFindings, pairs: list[tuple[str, str]]
) -> list[str]:
    """A large picture of two goals, or three small ones of three."""
    if len(pairs) == 1:
        draw = partial(_draw, facts, findings, pairs[0])
        return [draw((640, 460)).render("wide medium"), draw((400, 340)).render("narrow")]
    drawn = [_draw(facts, findings, pair, (400, 340)).render() for pair in pairs]
    figures = [f"<figure>{each}</figure>" for each in drawn]
    return ['<div class="grid-of-slices">', *figures, "</div>"]


def _draw(facts: JointFacts, findings: JointFindings, pair: tuple[str, str], size: Size) -> Canvas:
    first, second = pair
    canvas = Canvas(*size, f"Front of {first} and {second}", left=70, bottom=40)
    raw = [findings.belief.evidence.raw_values(name) for name in pair]
    y = _scale(findings, second, raw[1], canvas.up)
    y_axis(canvas, y, facts.each[second].aspect.name)
    x = _scale(findings, first, raw[0], canvas.across)
    x_axis(canvas, x, facts.each[first].aspect.name, 6 if canvas.is_wide else 4)
    numbers = sorted(set(raw[0]) & set(raw[1]))
    across, up = ([values[number] for number in numbers] for values in raw)
    for k in visible(across, up):
        title = f"trial {numbers[k]}: {rounded(across[k])}, {rounded(up[k])}"
        if x.has(across[k]) and y.has(up[k]):
            canvas.dot(x(across[k]), y(up[k]), 2.4, "middle", title)
    directions = tuple(facts.outcomes[name].direction for name in pair)
    flukes = [(raw[0][number], raw[1][number]) for number in findings.raw_front]
    canvas.line(_staircase(flukes, directions, x, y, facts), "raw")
    for number, (a, b) in zip(findings.raw_front, flukes, strict=True):
        canvas.dot(x(a), y(b), 3, "fluke", f"trial {number}, raw: {rounded(a)}, {rounded(b)}")
    means = [(each.outcomes[first].mean, each.outcomes[second].mean) for each in findings.front]
    canvas.line(_staircase(means, directions, x, y, facts), "incumbent")
    for each in findings.front:
        _draw_estimate(canvas, each, pair, (x, y))
    return canvas


def _scale(findings: JointFindings, name: str, raw: Values, pixels: Point) -> Scale:
    """A scale on which the front is whole, and of other measurements those that are not far out."""
    ends = [end for each in findings.front for end in _bar(each, name)]
    values = np.array([*raw.values()])
    # a quarter of them, as differences of the largest doubles are no numbers
    low, high = (4 * float(each) for each in np.percentile(values / 4, [10, 90]))
    shown = [raw[number] for number in findings.raw_front]
    return Scale.over([*ends, *shown, low, high], pixels)


def _bar(estimate: Estimate, name: str) -> tuple[float, float]:
    """One standard deviation below the mean and one above it, within what is possible."""
    known = estimate.outcomes[name]
    return max(known.mean - known.std, known.low), min(known.mean + known.std, known.high)


def _staircase(
    points: list[Point], directions: tuple[Direction, ...], x: Scale, y: Scale, facts: JointFacts
) -> list[Point]:
    """What the points of a front dominate has this border; with three goals there is no line."""
    if len(facts.outcomes.goals) > 2:
        return []
    ordered = sorted(points, key=lambda point: directions[0].flip(point[0]))
    steps: list[Point] = []
    for a, b in ordered:
        if steps:
            steps.append((x(a), steps[-1][1]))
        steps.append((x(a), y(b)))
    return steps


def _draw_estimate(
    canvas: Canvas, estimate: Estimate, pair: tuple[str, str], scales: tuple[Scale, Scale]
) -> None:
    """A setting of the front with bars of one standard deviation."""
    x, y = scales
    left, right = (x(end) for end in _bar(estimate, pair[0]))
    low, high = (y(end) for end in _bar(estimate, pair[1]))
    a, b = (estimate.outcomes[name].mean for name in pair)
    chance = estimate.p_efficient
    kind = " unsure" if chance is not None and chance < _SURE else ""
    canvas.bar((left, y(b)), (right, y(b)), f"whisker{kind}")
    canvas.bar((x(a), low), (x(a), high), f"whisker{kind}")
    told = ", ".join(estimate_text(estimate.outcomes[name]) for name in pair)
    title = f"trial {estimate.number}: {told}; on the front with {percent(chance)}"
    canvas.dot(x(a), y(b), 4.5, f"level{kind}", title)


def _table(facts: JointFacts, findings: JointFindings) -> str:
    """The settings of the front with every outcome and the chances."""
    outcomes, names = facts.outcomes, facts.study.space.names
    heads = ["Trial", *outcomes.names, "non-dominated"]
    if outcomes.limits:
        heads.append("limits hold")
    heads += names
    head = "".join(f'<th scope="col">{text_of(name, 60)}</th>' for name in heads)
    rows = []
    for each in findings.front:
        cells = [str(each.number)]
        for name in outcomes:
            known = each.outcomes.get(name)
            cells.append("–" if known is None else text_of(estimate_text(known)))
        cells.append(percent(each.p_efficient))
        if each.p_feasible is not None:
            cells.append(percent(each.p_feasible))
        cells += [value_cell(each.params.get(name, ABSENT)) for name in names]
        rows.append(table_row(*cells))
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<div class="scroll"><table class="front">{body}</table></div>'
