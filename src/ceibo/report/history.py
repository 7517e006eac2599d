"""The measurements of an objective or an outcome over the trials, as a drawing."""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo.decide import Measurement
from ceibo.decide.block_names import block_line
from ceibo.decide.surface.sight import in_sight
from ceibo.decide.surface.standings import Standing
from ceibo.numbers import rounded, with_uncertainty
from ceibo.report.axes import y_axis
from ceibo.report.facts import Aspect
from ceibo.report.parts import Size, draw_limit, trial_axis
from ceibo.report.svg import Canvas, Point, Scale, path_of, px, title_of
from ceibo.report.thinning import visible
from ceibo.study.repeats import noise_of

_CROWD: Final = 300  # measurements from which dots are small
Measured = tuple[int, Measurement]  # a measurement with the number of its trial


@final
@dataclass(frozen=True)
class History:
    """What is drawn, in every size; of very many measurements those that can be told apart."""

    aspect: Aspect
    standings: tuple[Standing, ...]  # of the incumbent; there may be none

    count: int  # of all measurements
    measured: list[Measured]
    failed: list[int]  # numbers of trials
    records: list[tuple[int, float]]  # the best raw value from a trial on; the last trial too
    in_sight: list[float]

    @property
    def is_thinned(self) -> bool:
        """Whether some measurements are not drawn."""
        return self.count > len(self.measured)


def draw_history(shown: History, label: str, size: Size) -> Canvas:
    """The measurements, the best raw value so far, and what is believed of the best setting."""
    canvas = Canvas(*size, label)
    y = Scale.over(shown.in_sight, canvas.up)
    y_axis(canvas, y, shown.aspect.name)
    x = trial_axis(canvas, len(shown.aspect.trials))
    canvas.line(_stepped(shown.records, x, y), "raw")
    radius = 1.8 if shown.count > _CROWD else 3
    for number, measurement in shown.measured:
        _draw_measurement(canvas, y, x(number), radius, (number, measurement))
    for number in shown.failed:
        canvas.add(cross(x(number), canvas.up[0] - 6, f"trial {number} failed"))
    _draw_standings(canvas, shown.standings, x, y)
    if shown.aspect.limit is not None:
        draw_limit(canvas, y, shown.aspect.limit)
    return canvas


def history_of(aspect: Aspect, standings: tuple[Standing, ...]) -> History:
    """What is to be drawn of an objective or an outcome that has measurements."""
    trials = aspect.trials
    measured = [(trial.number, each) for trial in trials for each in trial.measurements]
    failed = [trial.number for trial in trials if trial.state == "failed"]
    seen = in_sight([each.value for _, each in measured], standings, aspect.limit)
    kept = [k for k, each in enumerate(measured) if each[0] in aspect.answers]
    kept = [0, *kept, len(measured) - 1]
    heights = np.clip([each.value for _, each in measured], min(seen), max(seen))
    dots = visible([number for number, _ in measured], heights, kept)
    return History(
        aspect=aspect,
        standings=standings,
        count=len(measured),
        measured=[measured[k] for k in dots],
        failed=[failed[k] for k in visible(failed, np.zeros(len(failed)))],
        records=_records(aspect, measured) if aspect.is_goal else [],
        in_sight=seen,
    )


def _records(aspect: Aspect, measured: list[Measured]) -> list[tuple[int, float]]:
    """The trials at which the best raw value changed, with that value; the last trial too."""
    ordered = sorted(
        (number, measurement.value)
        for number, measurement in measured
        if not aspect.holding or number in aspect.holding
    )
    best = aspect.direction.accumulate(np.array([value for _, value in ordered]))
    changes = (np.flatnonzero(best[1:] != best[:-1]) + 1).tolist()
    return [(ordered[k][0], float(best[k])) for k in (0, *changes, len(ordered) - 1)]


def _stepped(records: list[tuple[int, float]], x: Scale, y: Scale) -> list[Point]:
    """A line that moves across before it moves up or down."""
    points: list[Point] = []
    for number, value in records:
        if points:
            points.append((x(number), points[-1][1]))
        points.append((x(number), y(value)))
    return points


def _draw_measurement(canvas: Canvas, y: Scale, at: float, radius: float, told: Measured) -> None:
    """A dot with a bar of one standard deviation; a triangle at the edge if it is out of sight."""
    number, measurement = told
    value, noise = measurement.value, noise_of(measurement)
    title = f"trial {number}: {rounded(value)}"
    if noise is not None:
        title = f"trial {number}: {with_uncertainty(value, noise)}"
    if several := measurement.count or len(measurement.replicates):
        title += f", the mean of {several}"
    if measurement.block:
        title += f" ({block_line(measurement.block)})"
    for each in measurement.replicates:
        if y.has(each):
            canvas.dot(at, y(each), 0.7 * radius, "replicate")
    if not y.has(value):
        above = value > y.high
        edge = canvas.up[1] + 5 if above else canvas.up[0] - 5
        canvas.add(_triangle(at, edge, -4 if above else 4, title))
        return
    if noise:
        canvas.bar((at, y(value - noise)), (at, y(value + noise)), "bar")
    canvas.dot(at, y(value), radius, "measured", title)


def _draw_standings(canvas: Canvas, standings: tuple[Standing, ...], x: Scale, y: Scale) -> None:
    upper: list[Point] = []
    middle: list[Point] = []
    lower: list[Point] = []
    for each in standings:
        at = x(each.number - 0.5)
        low, high = each.band
        for points, value in ((upper, high), (middle, each.mean), (lower, low)):
            points.append((at, y(value)))
    canvas.band(upper, lower, "band")
    canvas.line(middle, "incumbent")


def _triangle(x: float, y: float, tip: float, title: str) -> str:
    corners = path_of([(x, y + tip), (x - 4, y - tip), (x + 4, y - tip)])
    return f'<polygon class="outside" points="{corners}">{title_of(title)}</polygon>'


def cross(x: float, y: float, title: str) -> str:
    """The mark of a failed trial."""
    left, right, top, bottom = px(x - 3), px(x + 3), px(y - 3), px(y + 3)
    lines = f"M{left} {top}L{right} {bottom}M{left} {bottom}L{right} {top}"
    return f'<path class="failed" d="{lines}">{title_of(title)}</path>'
