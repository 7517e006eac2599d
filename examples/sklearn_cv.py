"""A scikit-learn model tuned by cross-validation, a measurement whose noise is told.

The score of k folds is their mean; its noise is about their standard deviation over √k. Told the
noise, ceibo neither trusts a lucky split nor spends fits on differences below the noise.
"""

from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold, cross_val_score
from sklearn.svm import SVC

import ceibo

SPACE = {
    "C": ceibo.Float(1e-2, 1e3, log=True),
    "gamma": ceibo.Float(1e-5, 1e-1, log=True),
    "kernel": ceibo.Categorical(["rbf", "poly"]),
}
X, y = load_digits(return_X_y=True)
X, y = X[:500], y[:500]


def accuracy(params: dict[str, Any]) -> ceibo.Measurement:
    """Mean accuracy of five random folds, with its noise."""
    folds = KFold(5, shuffle=True, random_state=0)
    scores = cross_val_score(SVC(**params), X, y, cv=folds)
    return ceibo.Measurement(
        float(np.mean(scores)), noise=float(np.std(scores, ddof=1) / np.sqrt(len(scores)))
    )


def main() -> None:
    # stop when another fit promises less than a twentieth of a percent
    result = ceibo.maximize(accuracy, SPACE, n_trials=30, cost=0.0005, seed=0)
    best = result.best
    print(result.stop.message)
    print(f"accuracy {best.mean:.3f} ± {best.std:.3f} with {best.params}")
    print(
        f"the best single score, {result.best_observed.value:.3f}, is trial"
        f" {result.best_observed.number}"
    )


if __name__ == "__main__":
    main()
