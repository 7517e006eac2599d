"""What a study with outcomes was made with: outcomes, settings, space, versions, and the fits."""

from ceibo.decide.outcome_words import wish_of
from ceibo.numbers import rounded
from ceibo.report.joint.facts import JointFacts
from ceibo.report.panels.settings import panel_of, table


def settings(facts: JointFacts) -> str:
    """The panel of settings."""
    about = {"study": facts.study.name, "seed": facts.study.seed}
    wishes = [(name, _describe(facts, name)) for name in facts.outcomes]
    return panel_of(facts, about, _fit(facts), table("outcomes", wishes))


def _describe(facts: JointFacts, name: str) -> str:
    """What is wanted of an outcome, and what is possible."""
    outcome = facts.outcomes[name]
    parts = [wish_of(outcome)]
    if outcome.unit and outcome.bound is None:
        parts.append(f"in {outcome.unit}")
    if outcome.low is not None or outcome.high is not None:
        low = "−∞" if outcome.low is None else rounded(outcome.low)
        high = "∞" if outcome.high is None else rounded(outcome.high)
        parts.append(f"possible from {low} to {high}")
    return ", ".join(parts)


def _fit(facts: JointFacts) -> list[tuple[str, str]]:
    """The fitted hyperparameters of every outcome, for reproduction."""
    if facts.findings is None:
        return []
    predictions = facts.findings.belief.predictions
    rows = []
    for name, noise in predictions.noise.items():
        model = predictions.model_of(name)
        scales = ", ".join(rounded(scale, 3) for scale in model.gp.kernel.lengthscales[:20])
        inferred = "known for every measurement" if noise is None else rounded(noise, 3)
        rows += [
            (f"{name}: length scales", scales),
            (f"{name}: inferred noise (standard deviation)", inferred),
            (f"{name}: observations used", f"{model.used} of {model.observations}"),
        ]
    return rows
