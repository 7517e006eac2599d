"""The study that a search made in another tool is copied into."""

from typing import Any

from ceibo.decide.space import Space
from ceibo.study.study import Study


def new_study(space: Space, **options: Any) -> Any:
    """A new study, as `Study.create` makes it."""
    return Study.create(space, **options)
