"""Draws docs/images/idea.svg: where EI and corrected EI want to measure next, in one dimension.

python docs/images/idea.py [seed]
"""

import sys
from pathlib import Path

import numpy as np

from ceibo import acquisition
from ceibo.acquisition import Acquisition
from ceibo.gp import GaussianProcess, Matern52
from ceibo.gp.inputs import Array
from ceibo.report.svg import Canvas, Scale

STYLE = """<style>
svg{background:#fff}.frame{fill:none}
text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:#3f4a5c}
.strong{font-weight:600}.blue{fill:#2257c4}.red{fill:#c02626}.grey{fill:#6b7688}
.truth{fill:none;stroke:#6b7688;stroke-width:1.4;stroke-dasharray:5 4}
.mean{fill:none;stroke:#1b2230;stroke-width:2}.band{fill:#1b2230;opacity:.1}
.dot{fill:#6b7688}.bar{stroke:#6b7688;stroke-width:1.5;opacity:.8}
.star{fill:#2257c4}.raw{fill:none;stroke:#c02626;stroke-width:2}
.ei{fill:none;stroke:#c02626;stroke-width:2}.cei{fill:none;stroke:#2257c4;stroke-width:2.4}
.cei-area{fill:#2257c4;opacity:.12}
.next-ei{stroke:#c02626;stroke-width:1.4;stroke-dasharray:4 3}
.next-cei{stroke:#2257c4;stroke-width:1.6;stroke-dasharray:4 3}
.frame{stroke:#dfe3ea}
</style>"""


def truth(x: Array) -> Array:
    """A shallow valley on the left, the deep one on the right."""
    return (
        1.0 - 0.75 * np.exp(-(((x - 0.24) / 0.13) ** 2)) - 1.0 * np.exp(-(((x - 0.76) / 0.11) ** 2))
    )


def draw(seed: int) -> str:
    rng = np.random.default_rng(seed)
    X = np.array([0.05, 0.17, 0.22, 0.26, 0.31, 0.5, 0.93])
    noise = np.array([0.1, 0.3, 0.35, 0.3, 0.3, 0.1, 0.1])
    y = truth(X) + noise * rng.standard_normal(len(X))
    gp = GaussianProcess(X[:, None], y, noise**2, Matern52([0.16], 0.25), mean=0.75)
    grid = np.linspace(0, 1, 401)
    mean, variance = gp.posterior(grid[:, None])
    std = np.sqrt(variance)
    plain, corrected = (acquisition.build(name, gp) for name in ("ei", "corrected-ei"))
    incumbent = corrected.incumbent
    canvas = Canvas(
        860, 470, "EI and corrected EI in one dimension", left=20, right=20, top=34, bottom=200
    )
    x = Scale(0, 1, *canvas.across)
    y_scale = Scale.over([*(mean - std), *(mean + std), *(y - noise), *(y + noise)], canvas.up)
    canvas.add(STYLE, '<rect width="860" height="470" fill="#fff"/>')

    def curve(values: Array, scale: Scale) -> list[tuple[float, float]]:
        return [(x(float(a)), scale(float(b))) for a, b in zip(grid, values, strict=True)]

    canvas.band(curve(mean + std, y_scale), curve(mean - std, y_scale), "band")
    canvas.line(curve(truth(grid), y_scale), "truth")
    canvas.line(curve(mean, y_scale), "mean")
    for point, value, error in zip(X, y, noise, strict=True):
        canvas.segment(
            (x(point), y_scale(value - error)), (x(point), y_scale(value + error)), "bar"
        )
        canvas.dot(x(point), y_scale(value), 4, "dot")
    lowest = int(np.argmin(y))
    canvas.dot(x(X[lowest]), y_scale(y[lowest]), 8, "raw")
    canvas.dot(x(incumbent.x[0]), y_scale(incumbent.mean), 6, "star")
    canvas.write(
        20,
        20,
        "What is known: measurements ± noise, mean ± std of the model, truth (dashed)",
        kind="strong",
    )
    canvas.write(
        x(X[lowest]) + 16, y_scale(y[lowest]) + 5, "lowest value measured: a fluke", kind="red"
    )
    canvas.write(
        x(incumbent.x[0]) + 12,
        y_scale(incumbent.mean) + 20,
        "best setting x⁺, by the model",
        kind="blue",
    )
    _acquisitions(canvas, x, grid, (plain, corrected))
    return canvas.render().replace('class="" ', "")


def _acquisitions(
    canvas: Canvas, x: Scale, grid: Array, functions: tuple[Acquisition, ...]
) -> None:
    """The lower half: both functions, each with the point it would measure next."""
    values = [function.value(grid[:, None]) for function in functions]
    scale = Scale(0.0, 1.08 * max(float(np.max(each)) for each in values), 452, 312)
    canvas.add('<line class="frame" x1="20" x2="840" y1="452" y2="452"/>')
    canvas.write(20, 300, "What one more measurement promises", kind="strong")
    area = [(x(float(a)), scale(float(b))) for a, b in zip(grid, values[1], strict=True)]
    lower = (20.0, 312.0, 840.0, 452.0)
    canvas.band(area, [(each, 452.0) for each, _ in area], "cei-area", lower)
    for each, kind, colour, name in zip(
        values,
        ("ei", "cei"),
        ("red", "blue"),
        ("EI: next here", "corrected EI: next here"),
        strict=True,
    ):
        curve = [(x(float(a)), scale(float(b))) for a, b in zip(grid, each, strict=True)]
        canvas.line(curve, kind, lower)
        best = int(np.argmax(each))
        canvas.segment(
            (x(grid[best]), scale(float(each[best]))), (x(grid[best]), 466), f"next-{kind}"
        )
        canvas.write(x(grid[best]) + 8, scale(float(each[best])) - 2, name, kind=colour)


if __name__ == "__main__":
    target = Path(__file__).with_name("idea.svg")
    target.write_text(draw(int(sys.argv[1]) if len(sys.argv) > 1 else 1) + "\n", encoding="utf-8")
