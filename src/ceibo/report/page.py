"""The page: one file that loads nothing from outside; style and script are bound by hashes."""

import base64
import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.resources import files
from typing import Final

from ceibo.report.facts import Facts
from ceibo.report.joint.facts import JointFacts
from ceibo.report.joint.panels import JOINT_PANELS
from ceibo.report.panels.answer import answer
from ceibo.report.panels.blocks import blocks
from ceibo.report.panels.convergence import convergence
from ceibo.report.panels.importance import importance
from ceibo.report.panels.map_ import map_
from ceibo.report.panels.mixture import mixture
from ceibo.report.panels.remaining import remaining
from ceibo.report.panels.settings import settings
from ceibo.report.panels.slices import slices
from ceibo.report.panels.trials import trials
from ceibo.report.svg import text_of
from ceibo.study.trial_line import aims_line
from ceibo.text import plural

# In the order of the page; each panel returns HTML, empty if it has nothing to show.
PANELS: Final[tuple[Callable[[Facts], str], ...]] = (
    answer,
    convergence,
    remaining,
    importance,
    slices,
    map_,
    mixture,
    blocks,
    trials,
    settings,
)


def render(facts: Facts | JointFacts, refresh: float | None = None) -> str:
    """The page of a study; with `refresh`, it loads itself again after that many seconds."""
    folder = files("ceibo.report")
    style = folder.joinpath("page.css").read_text("utf-8")
    if isinstance(facts, JointFacts):
        style += folder.joinpath("joint", "joint.css").read_text("utf-8")
    if facts.study.space.rules:
        style += folder.joinpath("rules.css").read_text("utf-8")
    if facts.suspects:
        style += folder.joinpath("suspicion.css").read_text("utf-8")
    script = folder.joinpath("page.js").read_text("utf-8")
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src"
        f" '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    again = "" if refresh is None else f' data-refresh="{refresh:g}"'
    if isinstance(facts, JointFacts):
        body = "".join(panel(facts) for panel in JOINT_PANELS)
    else:
        body = "".join(panel(facts) for panel in PANELS)
    return (
        f'<!DOCTYPE html>\n<html lang="en"{again}><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="referrer" content="no-referrer"><link rel="icon" href="data:,">'
        f"<title>{text_of(facts.study.name, 100)} · ceibo</title><style>{style}</style></head>"
        f"<body><main>{_header(facts)}{body}</main><script>{script}</script></body></html>\n"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _header(facts: Facts | JointFacts) -> str:
    """The name of the study, and how far it has come."""
    study = facts.study
    states = [trial.state for trial in facts.trials]
    failed = states.count("failed")
    under_way = states.count("running") + states.count("queued")
    aim = aims_line(facts.outcomes) if isinstance(facts, JointFacts) else study.direction
    parts = [
        f"{aim} over {plural(len(study.space), 'parameter')}",
        plural(len(states), "trial"),
        plural(sum(len(trial.measurements) for trial in facts.trials), "measurement"),
    ]
    if failed:
        parts.append(f"{failed} failed")
    if under_way:
        parts.append(f"{under_way} under way")
    parts.append(datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"))
    return f"<header><h1>{text_of(study.name)}</h1><p>{text_of(' · '.join(parts))}</p></header>"
