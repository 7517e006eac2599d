"""Optuna: ceibo as a sampler, and the honest answers of any Optuna study. Needs optuna."""

from ceibo.integrations.optuna.sampler import (
    CeiboSampler,
    PosteriorBest,
    best_trial_by_posterior,
    recommended,
    report_noise,
    stop_by_cost,
)

__all__ = [
    "CeiboSampler",
    "PosteriorBest",
    "best_trial_by_posterior",
    "recommended",
    "report_noise",
    "stop_by_cost",
]
