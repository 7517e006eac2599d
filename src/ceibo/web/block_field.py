"""The field of a block, named by the kind that a study usually has."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from ceibo.decide.block_names import DEFAULT_KIND, usual_kinds
from ceibo.study import Trial
from ceibo.study.blocks import example_among
from ceibo.text import one_line
from ceibo.web.forms import field


@final
@dataclass(frozen=True)
class UsualBlock:
    """The one kind of block that most measurements are in, and the last of them; "" if there is
    none, or several.
    """

    kind: str = ""
    last: str = ""

    @staticmethod
    def of(trials: Iterable[Trial]) -> "UsualBlock":
        """That of a study."""
        blocks = [each.block for trial in trials for each in trial.measurements]
        usual = usual_kinds(blocks)
        if len(usual) != 1:
            return UsualBlock()
        (kind,) = usual
        names = [dict(block)[kind] for block in blocks if kind in dict(block)]
        return UsualBlock(kind, example_among(names))

    @property
    def head(self) -> str:
        """The kind as a heading."""
        return "Block" if self.kind in ("", DEFAULT_KIND) else one_line(self.kind, 40)

    def field(self, identifier: str, value: str = "") -> str:
        """The field with its label, and the last one as an example."""
        label = self.head if self.kind else "Block, such as the day"
        hint = f"such as {one_line(self.last, 40)}" if self.last else ""
        return field(identifier, label, "block", hint=hint, value=value)
