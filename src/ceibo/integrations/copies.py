"""A search made in another tool, as a study of ceibo's own: to report on, keep or go on with."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar, final

from ceibo.attached import attached
from ceibo.decide import Categorical, Direction, Measurement, Settings, Space
from ceibo.decide.dimensions import Dimension
from ceibo.decide.outcomes import Outcomes
from ceibo.errors import InputError, show_value

# Parameters and what came of them, by name with outcomes; NaN where a trial failed.
Row = tuple[Mapping[str, Any], Measurement | Mapping[str, Measurement]]


class Receiver(Protocol):
    """What `ceibo.Study` is here: something that takes existing measurements."""

    def add_all(self, rows: Sequence[Any]) -> object: ...


S = TypeVar("S", bound=Receiver)

_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")  # of a function, another one in every process


@attached
def new_study(space: Space, **options: Any) -> Any:
    """`ceibo.Study.create`: doors know what is decided from measurements, nothing of databases."""
    raise NotImplementedError


@final
@dataclass(frozen=True)
class Copy:
    """The parameters in the user's units, how the model is fitted, and all that was measured."""

    space: Space
    aim: Direction | Outcomes
    settings: Settings
    seed: int
    rows: tuple[Row, ...]

    def into(self, create: Callable[..., S] | None, options: Mapping[str, Any]) -> S | Any:
        """A new study with these measurements.

        Args:
            create: makes it; `ceibo.Study.create` by default, which `ceibo.Study` stands for too.
            options: of `create`, such as `storage` and `name`.
        """
        make = new_study if create is None else getattr(create, "create", create)
        if not callable(make):
            raise InputError(
                f"create must be ceibo.Study.create, or be left out, got {show_value(create)}; the"
                ' database of the study is storage="sqlite:///lab.db".'
            )
        given: dict[str, Any] = {
            "seed": self.seed,
            "acquisition": self.settings.acquisition,
            "n_initial": self.settings.n_initial,
            "outliers": self.settings.outliers,
            "varying_noise": self.settings.varying_noise,
        }
        if isinstance(self.aim, Direction):
            given["direction"] = str(self.aim)
        else:
            given |= {"outcomes": self.aim, "confidence": self.settings.assurance}
        study = make(self.space, **{**given, **options})
        study.add_all(self.rows)
        return study


def choices_of(values: Sequence[Any]) -> Dimension:
    """Choices as they are, or as text or numbered where a study has no such values."""
    texts = [_ADDRESS.sub("", str(value)) for value in values]
    for named in (values, texts):
        try:
            return Categorical(named)
        except InputError:
            continue
    return Categorical([f"{number}: {text}" for number, text in enumerate(texts)])
