"""What a plot is of: a study, one of its outcomes, and the setting that pictures go through."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from ceibo.decide import Belief, Estimate, JointBelief, Measurement, Space
from ceibo.decide.effects import offsets_of
from ceibo.decide.surface.existence import columns_at
from ceibo.decide.surface.sensitivity import Importance, filled, importance
from ceibo.decide.view import View, view_of
from ceibo.errors import InputError, show_value
from ceibo.gp.inputs import Array
from ceibo.study import Result, Study, Trial
from ceibo.study.drawn import chosen_of, place_of, places_of

Shown = Study | Result


@final
@dataclass(frozen=True, eq=False)
class Subject:
    """A study and the outcome of it that is drawn; a place is a point of the unit cube."""

    study: Study
    belief: Belief | JointBelief
    view: View

    @property
    def space(self) -> Space:
        return self.study.space

    @cached_property
    def trials(self) -> tuple[Trial, ...]:
        return self.study.trials

    @cached_property
    def measured(self) -> tuple[Trial, ...]:
        """The trials in which the outcome was measured."""
        return tuple(trial for trial in self.trials if self.measurements(trial))

    @property
    def eligible(self) -> list[int]:
        """The trials among which the best raw value is: those that hold every limit, if any do."""
        held = self.belief.evidence.holding if isinstance(self.belief, JointBelief) else []
        return held or [trial.number for trial in self.measured]

    def measurements(self, trial: Trial) -> tuple[Measurement, ...]:
        """Those of the outcome in a trial."""
        if self.view.outcome is None:
            return trial.measurements
        return trial.outcomes.get(self.view.name, ())

    @cached_property
    def effects(self) -> dict[tuple[str, str], float]:
        """What each block, a (kind, name), added to the values measured in it."""
        blocks = self.belief.blocks
        found = blocks[self.view.name] if isinstance(blocks, dict) else blocks
        return offsets_of(found)

    @cached_property
    def places(self) -> Array:
        """(n, d), of the measured trials; NaN where a parameter does not exist."""
        return places_of(self.study, self.measured)

    @cached_property
    def chosen(self) -> Estimate:
        """The setting that pictures go through."""
        return chosen_of(self.study)

    @cached_property
    def through(self) -> Array:
        """Its place (d,), with coordinates also of parameters that do not exist there."""
        place, gp = self.study.ledger.frame.place(self.chosen.params), self.view.model.gp
        return filled(self.space, place, gp)

    @cached_property
    def shares(self) -> Importance:
        """How much each parameter matters for the outcome."""
        return importance(self.view.model.gp, self.space)

    @cached_property
    def columns(self) -> list[int]:
        """The parameters that exist at the chosen setting, most important first."""
        order = [int(column) for column in self.shares.order]
        return columns_at(self.space, place_of(self.study, self.chosen.params), order)

    def columns_of(self, names: Iterable[str]) -> list[int]:
        """The columns of parameters named by a user."""
        if isinstance(names, str):
            names = [names]
        found = []
        for name in names:
            if name not in self.space.dimensions:
                known = ", ".join(self.space.names)
                raise InputError(f"params must be among {known}, got {show_value(name)}.")
            found.append(self.space.names.index(name))
        return found

    def check_existing(self, columns: Iterable[int], X: Array) -> None:
        """Refuses parameters that exist together at none of the points (n, d) of a picture."""
        conditions, names = self.space.conditions, [self.space.names[each] for each in columns]
        if conditions is None:
            return
        masks = {name: conditions.mask(name, X) for name in names}
        if not np.any(np.all(list(masks.values()), axis=0)):
            absent = next((name for name in names if not np.all(masks[name])), names[0])
            raise InputError(
                f"params: {absent!r} exists only where {conditions.describe(absent)}, and the"
                f" picture goes through {show_value(dict(self.chosen.params))}."
            )

    def distances(self, columns: Iterable[int]) -> Array:
        """How far each measured trial is from the chosen setting (n,), some columns left out."""
        # what exists in one of two settings only is as far as can be
        gaps = np.nan_to_num(np.abs(self.places - self.through), nan=1.0)
        choices = list(self.space.categorical)
        gaps[:, choices] = gaps[:, choices] > 0
        gaps[:, list(columns)] = 0.0
        return np.asarray(np.sqrt(np.mean(gaps**2, axis=1)))


def subject_of(shown: Shown, outcome: str | None) -> Subject:
    """What is to be drawn of a study or a result."""
    study = shown.study if isinstance(shown, Result) else shown
    if not isinstance(study, Study):
        raise InputError(
            f"expected a study or a result to draw, got {show_value(study, 200)}; of a study of"
            " Optuna and of a CeiboSearchCV, to_study makes one."
        )
    belief = study.belief if study.outcomes is None else study.joint_belief
    return Subject(study, belief, view_of(belief, outcome))
