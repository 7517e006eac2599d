"""The page before anything is filled in: headings, controls, and places for what follows."""

from collections.abc import Sequence

from ceibo.decide import Outcomes, Space
from ceibo.decide.dimensions import Dimension
from ceibo.decide.surface.existence import describe, pair_of
from ceibo.numbers import rounded
from ceibo.report.svg import text_of
from ceibo.study.trial_line import aims_line
from ceibo.text import one_line
from ceibo.web.forms import submit
from ceibo.web.maps import kinds_of
from ceibo.web.session import Session

_TABS = (
    ("next", "What to do next"),
    ("answer-part", "Answer"),
    ("profiler", "Profiler"),
    ("map", "Map"),
    ("check", "Check"),
    ("trials-part", "Trials"),
)


def page(session: Session, space: Space, token: str) -> str:
    """The whole page; what depends on the state of the study is fetched by its script."""
    name = text_of(session.name, 200)
    aim = session.direction if session.outcomes is None else aims_line(session.outcomes)
    tabs = "".join(f'<a href="#{place}">{text_of(title)}</a>' for place, title in _TABS)
    price = _price(session.cost) if _has_one_goal(session.outcomes) else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="ceibo-token" content="{token}"><link rel="icon" href="data:,">'
        f"<title>{name} · ceibo</title>"
        '<link rel="stylesheet" href="/static/report.css">'
        '<link rel="stylesheet" href="/static/page.css">'
        '<script type="module" src="/static/main.js"></script></head><body>'
        f'<main><header><div><h1>{name}</h1><p>{text_of(aim)} <span id="counts"></span></p></div>'
        '<p class="tools"><button type="button" id="print">Print the plan</button>'
        '<a href="/report" target="_blank" rel="noopener">Full report</a></p></header>'
        f'<nav aria-label="Parts of the page">{tabs}</nav>'
        '<p id="trouble" role="alert"></p>'
        "<noscript><p>This page needs JavaScript, all of which comes from here.</p></noscript>"
        f"{_columns(_next(space), _awaited('answer-part', 'The answer') + price)}"
        f"{_profiler(session.outcomes, space)}"
        f"{_pictures(session.outcomes, space)}"
        f"{_awaited('trials-part', 'All trials')}</main>"
        '<div id="toast"><p id="news" role="status" aria-live="polite"></p>'
        '<button type="button" id="seen" hidden>Close</button></div>'
        '<datalist id="blocks"></datalist>'
        '<dialog id="opened" aria-label="A trial"><div id="opened-body"></div>'
        '<form method="dialog"><button>Close</button></form></dialog></body></html>\n'
    )


def _next(space: Space) -> str:
    held = "".join(_held_row(column, name, space) for column, name in enumerate(space.names))
    rules = "".join(f"<li><code>{text_of(each)}</code></li>" for each in space.constraints)
    ruled = f'<p class="note">Rules that every setting obeys:</p><ul>{rules}</ul>' if rules else ""
    return (
        '<section class="panel" id="next"><h2 id="next-title" tabindex="-1">What to do next</h2>'
        '<form data-action="ask" data-keyed="yes" class="ask"><p class="field short">'
        '<label for="ask-count">How many more</label><input id="ask-count" name="count"'
        ' type="number" min="1" max="100" value="1" required></p>'
        "<details><summary>Hold parameters, or keep them equal within the batch</summary>"
        f'<div class="holds">{held}</div>{ruled}</details>{submit("Ask")}</form>'
        '<div id="cards" aria-busy="true"></div></section>'
    )


def _held_row(column: int, name: str, space: Space) -> str:
    """How one parameter is asked for."""
    control = _value_control(name, space.dimensions[name])
    label = text_of(name, 200)
    return (
        f'<div class="hold" data-column="{column}"><label for="hold-{column}">{label}</label>'
        f'<select id="hold-{column}" name="hold"><option value="free">free</option>'
        '<option value="fixed">held at</option><option value="shared">equal in the batch</option>'
        f"</select>{control}</div>"
    )


def _value_control(name: str, dimension: Dimension) -> str:
    label = f'aria-label="value of {text_of(name, 200)}" disabled'
    if dimension.listed is None:
        return f'<input name="text" type="text" inputmode="decimal" {label}>'
    return f'<select name="choice" {label}>{_options(dimension.listed)}</select>'


def _awaited(identifier: str, title: str) -> str:
    """The place of a part that is fetched."""
    panel = f'<section class="panel"><h2>{title}</h2></section>'
    return f'<div id="{identifier}" aria-busy="true">{panel}</div>'


def _columns(left: str, right: str) -> str:
    return f'<div class="columns"><div>{left}</div><div>{right}</div></div>'


def _pictures(outcomes: Outcomes | None, space: Space) -> str:
    return _columns(_map(outcomes, space), _check()) if len(space) > 1 else _check()


def _has_one_goal(outcomes: Outcomes | None) -> bool:
    return outcomes is None or len(outcomes.goals) == 1


def _price(cost: float | None) -> str:
    given = "" if cost is None else rounded(cost)
    return (
        '<section class="panel" id="price"><h2>Is another measurement worth its price?</h2>'
        '<form class="inline"><p class="field short"><label for="cost">Price of a measurement,'
        " in the units of the goal</label>"
        f'<input id="cost" name="cost" type="text" inputmode="decimal" value="{given}"></p></form>'
        '<p id="verdict" role="status"></p></section>'
    )


def _profiler(outcomes: Outcomes | None, space: Space) -> str:
    return (
        '<section class="panel" id="profiler"><h2>Profiler</h2>'
        '<p class="note">What is expected at a setting of your own, and along each parameter'
        " through it. The band is ± one standard deviation; grey is what the rules exclude.</p>"
        f'<div class="controls">{_outcome_choice("profile-outcome", outcomes)}'
        f"{_jumps(outcomes)}</div>"
        '<div id="readout"></div><p id="spoken" class="unseen" role="status"></p>'
        '<p id="profile-said" role="alert"></p>'
        f'<div id="slices">{_sliders(space)}</div>'
        '<form data-action="enqueue" data-keyed="yes" data-place="yes">'
        '<p id="why-not"></p>'
        f"{submit('Measure this setting next')}</form></section>"
    )


def _jumps(outcomes: Outcomes | None) -> str:
    """Buttons that bring the setting in hand to an answer."""
    jumps = {"to-best": "Best measured", "to-recommended": "Recommended"}
    jumps["to-held"] = "Best with the ticked ones held"
    if not _has_one_goal(outcomes):
        jumps = {"to-best": "A setting of the front"}
    return "".join(
        f'<button type="button" id="{place}">{label}</button>' for place, label in jumps.items()
    )


def _sliders(space: Space) -> str:
    """A figure of each parameter: its picture, and the control that moves it."""
    figures = []
    for column, (name, dimension) in enumerate(space.dimensions.items()):
        label = text_of(name, 200)
        levels = space.discrete.get(column)
        if dimension.listed is not None:
            options = _options(dimension.listed)
            control = f'<select id="s{column}" data-column="{column}">{options}</select>'
        else:
            most = 1000 if levels is None else len(levels) - 1
            control = (
                f'<input id="s{column}" data-column="{column}" type="range" min="0" max="{most}"'
                ' step="1"><input class="exact" type="text" inputmode="decimal" autocomplete="off"'
                f' data-column="{column}" aria-label="exact value of {label}">'
            )
        figures.append(
            f'<figure class="slice" data-column="{column}"><figcaption><label for="s{column}">'
            f'{label}</label> <label class="keep"><input type="checkbox" data-keep="{column}">'
            f' hold</label></figcaption><p class="about">{text_of(describe(space, name), 200)}</p>'
            f'<div class="picture"></div><div class="control">{control}</div></figure>'
        )
    return "".join(figures)


def _outcome_choice(identifier: str, outcomes: Outcomes | None) -> str:
    if outcomes is None:
        return ""
    return _choice(identifier, "Outcome", list(outcomes))


def _map(outcomes: Outcomes | None, space: Space) -> str:
    names = list(space.names)
    pair = pair_of(space, list(range(len(names)))) or (0, min(1, len(names) - 1))
    across = _choice("map-first", "Across", names, pair[0])
    up = _choice("map-second", "Up", names, pair[1])
    kind = _choice("map-kind", "Shows", kinds_of(outcomes))
    outcome = _outcome_choice("map-outcome", outcomes)
    return (
        '<section class="panel" id="map"><h2>Map of two parameters</h2>'
        f'<div class="controls">{across}{up}{kind}{outcome}</div><div id="map-picture"></div>'
        '<p class="note">Through the setting in the profiler, which is the star; dots are trials,'
        " faint where they differ much in other parameters or in a choice. Dark is good, or in a"
        " map of uncertainty, improvement or chance: much.</p></section>"
    )


def _choice(identifier: str, label: str, names: Sequence[object], chosen: int = 0) -> str:
    """A labelled list of which one is chosen."""
    body = f'<select id="{identifier}">{_options(names, chosen)}</select>'
    return f'<p class="field short"><label for="{identifier}">{label}</label>{body}</p>'


def _options(names: Sequence[object], chosen: int = 0) -> str:
    """The entries of a list, by their places in it."""
    marks = [" selected" if place == chosen else "" for place in range(len(names))]
    return "".join(
        f'<option value="{place}"{mark}>{text_of(one_line(name, 80))}</option>'
        for place, (name, mark) in enumerate(zip(names, marks, strict=True))
    )


def _check() -> str:
    return (
        '<section class="panel" id="check"><h2>Measured against predicted</h2>'
        '<div id="check-part" aria-busy="true"></div><p class="note">Each setting is predicted'
        " from the measurements at all the others; bars are ± one standard deviation.</p></section>"
    )
