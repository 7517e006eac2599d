"""Why corrected EI may measure one place for ever: what its next measurement would teach it.

Notation: x⁺ the incumbent, x the maximiser of corrected EI, σ̃² the variance of f(x) − f(x⁺), u =
    μ(x⁺) − μ(x).

    α(x) = E[max(0, f(x⁺) − f(x))] = σ̃ τ(u/σ̃)

Once f(x) is known, σ̃ is σ(x⁺): measuring x again lowers α(x) no further, and α(x⁺) = 0, so that x⁺
is never measured again either. EI, which takes f(x⁺) as known, falls to nothing at x instead; and a
measurement at x⁺ would have lowered α(x).
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ceibo import acquisition as acq
from ceibo.decide.model import fit_model
from ceibo.decide.settings import Settings
from ceibo.gp.inputs import Array
from ceibo_lab.methods.ceibo import KERNEL
from ceibo_lab.plans.compression import INITIAL
from ceibo_lab.problem import unit_space
from ceibo_lab.problems.networks.objective import Sample, told_noise
from ceibo_lab.record import Record
from ceibo_lab.run import evidence_of

JUDGE: Final = Settings(kernel=KERNEL, fit="ml", outliers=False, varying_noise=False)
NEAR: Final = 0.01  # in every coordinate of the unit cube


@final
@dataclass(frozen=True)
class Stall:
    """The state of a search of corrected EI at its end, in the units of the objective.

    Args:
        crowd: evaluations within NEAR of where it would measure next.
        at_best: evaluations within NEAR of the incumbent.
        std_next, std_best: what the model does not know of f(x) and f(x⁺).
        value: α(x).
        after_next, after_best: α(x) after one more measurement at x, or at x⁺.
    """

    crowd: int
    at_best: int
    std_next: float
    std_best: float
    value: float
    after_next: float
    after_best: float


def stall(record: Record) -> Stall:
    """Fits the model of a record again, and asks what the next measurement would do."""
    trace, cell = record["trace"], record["cell"]
    X = np.array(trace["u"])
    samples = [
        Sample(*seen) for seen in zip(trace["n"], trace["wrong"], trace["ratio"], strict=True)
    ]
    noise = told_noise(samples, cell["protocol"], cell["level"], INITIAL)
    evidence = evidence_of(X, np.array(trace["y"]), noise)
    model = fit_model(evidence, unit_space(X.shape[1]), JUDGE)
    best = acq.find_incumbent(model.gp)
    x, value = acq.maximize(acq.build("corrected-ei", model.gp), seed=cell["seed"])

    def after(point: Array) -> float:
        known = model.gp.condition(point[None, :])
        return model.natural(float(acq.build("corrected-ei", known).value(x[None, :])[0]))

    deviation = np.sqrt(model.gp.posterior(x[None, :])[1][0])
    return Stall(
        crowd=near(X, x),
        at_best=near(X, best.x),
        std_next=model.natural(float(deviation)),
        std_best=model.natural(best.std),
        value=model.natural(value),
        after_next=after(x),
        after_best=after(best.x),
    )


def near(X: Array, x: Array) -> int:
    """How many of the points (n, d) are within NEAR of x (d,) in every coordinate."""
    return int(np.sum(np.max(np.abs(X - x), axis=1) < NEAR))


def crowd(record: Record) -> int:
    """The most evaluations after the random design that are within NEAR of one of them."""
    X = np.array(record["trace"]["u"])[INITIAL:]
    return max(near(X, x) for x in X)
