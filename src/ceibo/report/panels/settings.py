"""What a study was made with: settings, space, versions, and the fit."""

from collections.abc import Iterable
from typing import Final

from ceibo.decide import Space
from ceibo.decide.record import versions
from ceibo.decide.surface.existence import describe
from ceibo.report.facts import Facts
from ceibo.report.parts import panel, table_row
from ceibo.report.svg import text_of

NOTE: Final = (
    "A study with these settings, this seed and these measurements makes the same suggestions"
    " again."
)


def settings(facts: Facts) -> str:
    """The panel of settings."""
    study = facts.study
    general = {"study": study.name, "direction": study.direction, "seed": study.seed}
    for key, value in (study.settings.to_json() | {"n_initial": facts.initial}).items():
        general[key.replace("_", " ")] = value
    if facts.cost is not None:
        general["price of a measurement, κ"] = facts.cost
    space = {name: describe(study.space, name) for name in study.space.names}
    tables = table("settings", general.items())
    tables += table("space", space.items()) + rules_table(study.space)
    tables += table("versions", versions().items())
    tables += table("fit", facts.findings.fit if facts.findings is not None else ())
    return panel("settings", "Settings and versions", f'<div class="two">{tables}</div>', NOTE)


def rules_table(space: Space) -> str:
    """The rules between parameters; empty without any."""
    rows = [(f"rule {place + 1}", rule) for place, rule in enumerate(space.constraints)]
    return table("rules", rows) if rows else ""


def table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """A table of two columns."""
    body = "".join(table_row(text_of(key, 100), text_of(value)) for key, value in rows)
    head = f'<table class="settings"><caption hidden>{title}</caption>'
    return f"<div>{head}<tbody>{body}</tbody></table></div>"
