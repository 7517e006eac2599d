"""What the spread of cross-validation folds says about the noise of a candidate's mean score.

All candidates are scored on the same folds, so folds are not independent replicates: an easy fold is easy for all.
With score_ck = m_c + b_k + e_ck, the fold's effect b_k shifts all means alike and matters to no comparison; what is
left, e_ck, is the noise. Its standard deviation in the mean of K folds is σ_c/√K.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_PRIOR_FOLDS: Final = 4  # a candidate's own spread, from few folds, is averaged with the typical one as if of so many
_FEWEST_CANDIDATES: Final = 3  # below this there is no telling the folds' effects from the candidates'


def fold_noise(scores: Array) -> Array:
    """Standard deviation of each candidate's mean over the folds, without the folds' effects; NaN where unknown.

    Args:
        scores: (C, K) scores of C candidates on the same K folds; rows that are not finite are left out.
    """
    noise = np.full(len(scores), np.nan)
    good = np.all(np.isfinite(scores), axis=1)
    rows, (count, folds) = scores[good], (int(np.sum(good)), scores.shape[1])
    if count < _FEWEST_CANDIDATES or folds < 2:
        return noise
    deviations = rows - rows.mean(axis=1, keepdims=True)
    effect = np.median(deviations, axis=0)  # rather than the mean, for the sake of a few hopeless candidates
    residuals = deviations - (effect - effect.mean())
    own = np.sum(residuals**2, axis=1) / ((folds - 1) * (1 - 1 / count))
    typical = float(np.median(own)) or float(np.mean(own))
    variance = (_PRIOR_FOLDS * typical + (folds - 1) * own) / (_PRIOR_FOLDS + folds - 1)
    noise[good] = np.sqrt(variance / folds)
    return noise
