"""What a study was made with: settings, space, versions, and the fit."""

from collections.abc import Iterable, Mapping
from typing import Final

from ceibo.decide.record import versions
from ceibo.decide.surface.existence import describe
from ceibo.report.facts import Facts
from ceibo.report.joint.facts import JointFacts
from ceibo.report.parts import panel, table_row
from ceibo.report.svg import text_of

_NOTE: Final = (
    "A study with these settings, this seed and these measurements makes the same suggestions"
    " again."
)


def settings(facts: Facts) -> str:
    """The panel of settings."""
    study = facts.study
    about = {"study": study.name, "direction": study.direction, "seed": study.seed}
    return panel_of(facts, about, facts.findings.fit if facts.findings is not None else ())


def panel_of(
    facts: Facts | JointFacts,
    about: Mapping[str, object],
    fit: Iterable[tuple[str, str]],
    first: str = "",
) -> str:
    """The panel of a study with these names and this fit; a table may stand `first`."""
    study = facts.study
    general = dict(about)
    for key, value in (study.settings.to_json() | {"n_initial": facts.initial}).items():
        general[key.replace("_", " ")] = value
    if study.settings.precision is not None:
        general["price of precision"] = study.settings.precision
    if facts.cost is not None:
        general["price of a measurement, κ"] = facts.cost
    space = {name: describe(study.space, name) for name in study.space.names}
    tables = first + table("settings", general.items()) + table("space", space.items())
    if rules := [(f"rule {place}", rule) for place, rule in enumerate(study.space.constraints, 1)]:
        tables += table("rules", rules)
    tables += table("versions", versions().items()) + table("fit", fit)
    return panel("settings", "Settings and versions", f'<div class="two">{tables}</div>', _NOTE)


def table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """A table of two columns."""
    body = "".join(table_row(text_of(key, 100), text_of(value)) for key, value in rows)
    head = f'<table class="settings"><caption hidden>{title}</caption>'
    return f"<div>{head}<tbody>{body}</tbody></table></div>"
