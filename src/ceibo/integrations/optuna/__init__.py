"""Optuna: ceibo as a sampler, and the answers of any Optuna study by a model. Needs optuna.

    study = optuna.create_study(sampler=CeiboSampler(seed=0))
    study.optimize(objective, n_trials=60, callbacks=[stop_by_cost(0.01)])
    best_trial_by_posterior(study)     # Optuna's own best_trial is the luckiest value
    recommended(study)                 # the best setting by the model, measured or not
    front_by_posterior(study)          # of two or three objectives
    to_study(study)                    # as a study of ceibo's own, for a report

The objective may report the noise of its value with report_noise(trial, std), or repeated
measurements with report_replicates(trial, values); otherwise the noise is inferred.
"""

try:
    import optuna  # noqa: F401 - for the message
except ImportError as error:
    raise ImportError(
        "ceibo.integrations.optuna needs Optuna 4.0 or newer: pip install"
        " 'path/to/the/clone[optuna]'"
    ) from error

from ceibo.integrations.optuna.answers import (
    best_trial_by_posterior,
    front_by_posterior,
    recommended,
    stop_by_cost,
)
from ceibo.integrations.optuna.copy import to_study
from ceibo.integrations.optuna.joint_answers import PosteriorBest
from ceibo.integrations.optuna.sampler import CeiboSampler, report_noise, report_replicates

__all__ = [
    "CeiboSampler",
    "PosteriorBest",
    "best_trial_by_posterior",
    "front_by_posterior",
    "recommended",
    "report_noise",
    "report_replicates",
    "stop_by_cost",
    "to_study",
]
