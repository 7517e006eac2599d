"""One self-contained HTML page about a study."""

from pathlib import Path

from ceibo.study import Study

__all__ = ["write_report"]


def write_report(study: Study, path: Path, *, cost: float | None = None, refresh: float | None = None) -> None:
    raise NotImplementedError
