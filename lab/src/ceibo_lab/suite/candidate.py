"""ceibo's own suggestions in a replication of the suite."""

from typing import Any

from ceibo.decide.space import Space
from ceibo.decide.suggest import Evidence, Model, Settings, fit_model, suggest
from ceibo.gp.inputs import Array


class Candidate:
    """ceibo's own suggestions under some settings, each fit also started from the one before, as a
    study does.
    """

    def __init__(self, space: Space, seed: int, settings: Settings) -> None:
        self.space, self.seed, self._settings = space, seed, settings
        self.settings: dict[str, Any] = settings.to_json()
        self._previous: Model | None = None

    def propose(self, evidence: Evidence, number: int) -> tuple[Array, Model | None]:
        found = suggest(
            evidence, self.space, self.settings_for(number), self._start(), self.seed, number
        )
        return found.x, self.remembered(found.model)

    def model(self, evidence: Evidence) -> Model:
        return fit_model(evidence, self.space, self._settings, self._start())

    def recommend(self, evidence: Evidence) -> Array | None:
        return None

    def settings_for(self, number: int) -> Settings:
        """The settings for trial `number`."""
        return self._settings

    def remembered(self, model: Model | None) -> Model | None:
        self._previous = model or self._previous
        return model

    def _start(self) -> Any:
        return None if self._previous is None else self._previous.fit.hyperparameters
