"""What the spread of cross-validation folds says about the noise of a candidate's mean score.

All candidates are scored on the same folds, so folds are not independent replicates: an easy fold
is easy for all. With score_ck = m_c + b_k + e_ck, the fold's effect b_k shifts all means alike and
does not change a comparison; the rest, e_ck, is the noise. Its standard deviation in the mean of K
folds is σ_c/√K.

Another data set would bring other b_k, so that a forecast of its score is much less certain than a
comparison. With K splits into n_test samples that score and n_train that teach, and s² the variance
of one candidate's scores between splits, the variance of their mean is (1/K + n_test/n_train) s²
(Nadeau and Bengio, Inference for the generalization error, Machine Learning 52, 2003): the second
term is because splits share most of the samples they teach with.
"""

import warnings
from collections.abc import Iterable, Sized
from typing import Final

import numpy as np

from ceibo.gp.inputs import Array

# Weight, in folds, of the typical spread in its average with a candidate's own.
_PRIOR_FOLDS: Final = 4
# With fewer candidates the folds' effects cannot be told from the candidates'.
_FEWEST_CANDIDATES: Final = 3
# Of a score's size: differences below this are rounding.
_ROUNDING: Final = 8 * float(np.finfo(float).eps)


def fold_noise(scores: Array) -> Array:
    """Standard deviation (C,) of each candidate's mean over the folds, without the folds' effects.

    NaN where it is unknown, also where no candidate has any spread left, as with coarse scores on
    few folds: that all candidates agree so far does not make the next score exact.

    Args:
        scores: (C, K) scores of C candidates on the same K folds; rows that are not finite are left
            out.
    """
    noise = np.full(len(scores), np.nan)
    good = np.all(np.isfinite(scores), axis=1)
    rows = scores[good]
    count, folds = rows.shape
    if count < _FEWEST_CANDIDATES or folds < 2:
        return noise
    own = _residual_variance(rows) / (1 - 1 / count)
    # On a plateau of the score most candidates agree, and the median is zero: the mean then gives
    # the typical noise.
    typical = float(np.median(own)) or float(np.mean(own))
    if typical > 0:
        variance = (_PRIOR_FOLDS * typical + (folds - 1) * own) / (_PRIOR_FOLDS + folds - 1)
        noise[good] = np.sqrt(variance / folds)
    return noise


def forecast_std(scores: Array, splits: Iterable[tuple[Sized, Sized]]) -> float:
    """Standard deviation of the mean of one candidate's scores (K,), as that on another data set.

    NaN for a single split, which has no spread, and where a score is not finite.

    Args:
        splits: the samples that taught and those that scored, of every split.
    """
    count = len(scores)
    if count < 2:
        return float("nan")
    share = float(np.mean([_size(test) / _size(train) for train, test in splits]))
    with np.errstate(invalid="ignore"):
        return float(np.sqrt((1 / count + share) * np.var(scores, ddof=1)))


def warn_of_one_split() -> None:
    """Warns that a single split says nothing about another."""
    warnings.warn(
        "cv is a single split: how much a score depends on which samples are in it cannot be known,"
        " so best_forecast_std_ is NaN, and best_std_ is that of a comparison on this split alone;"
        " several splits, such as cv=5, tell.",
        UserWarning,
        stacklevel=2,
    )


def _size(samples: Sized) -> int:
    """How many samples there are, by their places or by a mask of all."""
    array = np.asarray(samples)
    return int(np.sum(array)) if array.dtype == bool else len(array)


def _residual_variance(rows: Array) -> Array:
    """Variance (C,) of each candidate's scores (C, K) about its mean and the folds' effects."""
    deviations = rows - rows.mean(axis=1, keepdims=True)
    # unlike a mean, it is not moved by a few bad candidates
    effect = np.median(deviations, axis=0)
    residuals = deviations - (effect - effect.mean())
    size = np.max(np.abs(rows), axis=1, keepdims=True)
    # Residuals within the rounding error count as zero; the effect has that of typical scores.
    rounding = _ROUNDING * np.maximum(size, np.median(size))
    squares = np.where(np.abs(residuals) > rounding, residuals, 0.0) ** 2
    return np.asarray(np.sum(squares, axis=1) / (rows.shape[1] - 1))
