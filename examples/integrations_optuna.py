"""CeiboSampler in Optuna: noise reported, an early stop, the best by the model, a constraint.

Needs `pip install '.[optuna]'`. Run it with `python examples/integrations_optuna.py`.
"""

import numpy as np
import optuna

from ceibo.integrations.optuna import (
    CeiboSampler,
    best_trial_by_posterior,
    recommended,
    report_replicates,
    stop_by_cost,
)

REPEATS = 4
rng = np.random.default_rng(0)


def truth(x: float, layers: int, solvent: str) -> float:
    """0 at x = 0.3, layers = 5, solvent = "ethanol"."""
    return 4 * (x - 0.3) ** 2 + 0.05 * (layers - 5) ** 2 + (0.0 if solvent == "ethanol" else 0.4)


def objective(trial: optuna.Trial) -> float:
    x = trial.suggest_float("x", 0, 1)
    layers = trial.suggest_int("layers", 1, 9)
    solvent = trial.suggest_categorical("solvent", ["water", "ethanol"])
    values = truth(x, layers, solvent) + 0.4 * rng.standard_normal(REPEATS)
    # The noise is inferred from the spread of all trials' repeats.
    return report_replicates(trial, values)


def limited(trial: optuna.Trial) -> float:
    """The same, where x must be at least 0.5, as far as a noisy second measurement can tell."""
    measured = trial.suggest_float("x", 0, 1) + 0.05 * rng.standard_normal()
    trial.set_user_attr("missing", 0.5 - measured)
    return objective(trial)


def with_a_constraint() -> None:
    sampler = CeiboSampler(seed=0, constraints_func=lambda trial: [trial.user_attrs["missing"]])
    study = optuna.create_study(sampler=sampler)
    study.optimize(limited, n_trials=30)
    best = best_trial_by_posterior(study)
    print(
        f"with x >= 0.5        #{best.number}: x = {best.params['x']:.2f}, which holds with"
        f" probability {best.p_feasible:.2f}, truly {truth(**best.params):.2f}"
    )


def main() -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=CeiboSampler(seed=0))
    study.optimize(objective, n_trials=50, callbacks=[stop_by_cost(0.02)])
    best, anywhere = best_trial_by_posterior(study), recommended(study)
    print(f"{len(study.trials)} trials")
    lucky = study.best_trial
    print(
        f"Optuna's best trial  #{lucky.number}: {lucky.value:+.2f}, truly"
        f" {truth(**lucky.params):.2f}"
    )
    print(
        f"best by the model    #{best.number}: {best.mean:+.2f} ± {best.std:.2f}, truly"
        f" {truth(**best.params):.2f}"
    )
    print(f"recommended          {anywhere}, truly {truth(**anywhere.params):.2f}")
    with_a_constraint()


if __name__ == "__main__":
    main()
