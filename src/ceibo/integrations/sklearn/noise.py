"""What the spread of cross-validation folds says about the noise of a candidate's mean score.

All candidates are scored on the same folds, so folds are not independent replicates: an easy fold
is easy for all. With score_ck = m_c + b_k + e_ck, the fold's effect b_k shifts all means alike and
matters to no comparison; what is left, e_ck, is the noise. Its standard deviation in the mean of K
folds is σ_c/√K.
"""

from typing import Final

import numpy as np

from ceibo.gp.inputs import Array

# a candidate's own spread, from few folds, is averaged with the typical one as if of so many
_PRIOR_FOLDS: Final = 4
# below this there is no telling the folds' effects from the candidates'
_FEWEST_CANDIDATES: Final = 3
# of a score's size: differences below this are rounding
_DUST: Final = 8 * float(np.finfo(float).eps)


def fold_noise(scores: Array) -> Array:
    """Standard deviation of each candidate's mean over the folds, without the folds' effects; NaN
    where unknown.

    It is unknown too where nothing is left of any candidate's spread, as with coarse scores on few
    folds: that all candidates agree so far does not make the next score exact.

    Args:
        scores: (C, K) scores of C candidates on the same K folds; rows that are not finite are left
            out.
    """
    noise = np.full(len(scores), np.nan)
    good = np.all(np.isfinite(scores), axis=1)
    rows, (count, folds) = scores[good], (int(np.sum(good)), scores.shape[1])
    if count < _FEWEST_CANDIDATES or folds < 2:
        return noise
    own = _residual_variance(rows) / (1 - 1 / count)
    # Candidates that all agree but for a few are common (a plateau of the score): the few then tell
    # the typical noise.
    typical = float(np.median(own)) or float(np.mean(own))
    if typical > 0:
        variance = (_PRIOR_FOLDS * typical + (folds - 1) * own) / (_PRIOR_FOLDS + folds - 1)
        noise[good] = np.sqrt(variance / folds)
    return noise


def _residual_variance(rows: Array) -> Array:
    """Variance (C,) of the scores (C, K) of each candidate about its mean and the folds' effects; 0
    if but rounding.
    """
    deviations = rows - rows.mean(axis=1, keepdims=True)
    # rather than the mean, for the sake of a few hopeless candidates
    effect = np.median(deviations, axis=0)
    residuals = deviations - (effect - effect.mean())
    size = np.max(np.abs(rows), axis=1, keepdims=True)
    dust = _DUST * np.maximum(size, np.median(size))  # the effect is rounded as typical scores are
    return np.asarray(
        np.sum(np.where(np.abs(residuals) > dust, residuals, 0.0) ** 2, axis=1)
        / (rows.shape[1] - 1)
    )
