"""Optimises a noisy function with the array-level engine.

It shows why the best noisy value is not the best point.

Run it with `make run`, or `python examples/engine_demo.py`.
"""

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import qmc

from ceibo import acquisition
from ceibo.gp import GaussianProcess, fit_gp

INITIAL, STEPS, SEED = 8, 25, 2
NOISE_STD = 0.5  # the function ranges over about 5
OPTIMUM = np.array([0.3, 0.65])

Array = np.ndarray


def truth(X: Array) -> Array:
    """A tilted bowl with ripples, f = 0 at OPTIMUM; in practice it is not known."""
    a, b = (X - OPTIMUM).T
    return np.asarray(
        4.0 * a**2 + 4.0 * b**2 + 2.0 * a * b + 0.5 * (1.0 - np.cos(12.0 * a)) * (1.0 + b**2)
    )


def measure(X: Array, rng: np.random.Generator) -> Array:
    """What an experiment returns: the truth and an error."""
    return truth(X) + NOISE_STD * rng.standard_normal(len(X))


def model(X: Array, y: Array) -> GaussianProcess:
    """The Gaussian process fitted to all measurements so far."""
    return fit_gp(X, y, np.full(len(y), NOISE_STD**2)).gp


def main() -> None:
    console, rng = Console(), np.random.default_rng(SEED)
    console.print(
        "[bold]Minimise a function of two settings[/], measured with an error of"
        f" ±{NOISE_STD}:\n{INITIAL} points, then {STEPS} more, each where corrected expected"
        " improvement ('gain?') is largest.\n",
        highlight=False,
    )
    X = qmc.Sobol(2, seed=SEED).random(INITIAL)
    y = measure(X, rng)
    for step in range(1, STEPS + 1):
        corrected = acquisition.build("corrected-ei", model(X, y))
        best = corrected.incumbent
        x, value = acquisition.maximize(corrected, seed=step)
        X, y = np.vstack([X, x]), np.append(y, measure(x[None, :], rng))
        console.print(
            f"step {step:2d}  best [bold green]{best.mean:+.2f} ± {best.std:.2f}[/] at"
            f" ({_place(best.x)})  gain {value:.3f}? at ({_place(x)}): {y[-1]:+.2f}",
            highlight=False,
        )
    summary(console, model(X, y), X, y)


def summary(console: Console, gp: GaussianProcess, X: Array, y: Array) -> None:
    """Prints the raw best and the model's two answers, beside the truth."""
    best = acquisition.build("corrected-ei", gp).incumbent
    lucky = int(np.argmin(y))
    recommended = acquisition.recommend(gp).x[None, :]
    mean, variance = gp.posterior(recommended)
    rows = [
        ("lowest value measured", X[lucky], y[lucky], NOISE_STD),
        ("best measured point", best.x, best.mean, best.std),
        ("best point anywhere", recommended[0], mean[0], np.sqrt(variance[0])),
    ]
    table = Table(title=f"After {len(y)} measurements (the truth: 0 at ({_place(OPTIMUM)}))")
    for column in ("", "settings", "claims", "true f", "off by"):
        table.add_column(column, justify="right" if column else "left")
    for name, x, claim, std in rows:
        true = float(truth(x[None, :])[0])
        table.add_row(
            name, _place(x), f"{claim:+.2f} ± {std:.2f}", f"{true:+.2f}", f"{abs(claim - true):.2f}"
        )
    console.print()
    console.print(table)
    odds = acquisition.probability_best(gp, best.index)
    console.print(
        "The first row takes one lucky value at its word; the other two are the model's estimates."
        f" Best measured point: a {odds:.0%} chance of truly being the best of the {len(y)}"
        " measured.",
        highlight=False,
    )


def _place(x: Array) -> str:
    return ", ".join(f"{value:.2f}" for value in x)


if __name__ == "__main__":
    main()
