"""A scikit-learn model tuned by cross-validation, a measurement with replicates.

The scores of the folds are told as they are. The spread of five values is a poor estimate of the
noise, at times far too small by luck, so it is not told as known: the noise is inferred from the
spread of all trials together. Every trial draws its own folds, so that an easy split does not make
all of them look good. CeiboSearchCV does more with folds that all candidates share.
"""

from typing import Any

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
    """The accuracy on each of five random folds, the same ones whenever the trial is repeated."""
    folds = KFold(5, shuffle=True, random_state=ceibo.current_trial().number)
    return ceibo.Measurement.of(cross_val_score(SVC(**params), X, y, cv=folds))


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
