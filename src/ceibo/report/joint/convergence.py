"""The measurements of each outcome over the trials, with its limit and the best setting."""

from functools import partial

from ceibo.decide.outcome_words import wish_of
from ceibo.report.history import draw_history, history_of
from ceibo.report.joint.facts import JointFacts
from ceibo.report.parts import legend, panel, two_sizes
from ceibo.report.svg import text_of


def convergence(facts: JointFacts) -> str:
    """The panel of convergence, a drawing per measured outcome; empty before the first value."""
    figures = []
    thinned = False
    for name, each in facts.each.items():
        if not each.aspect.measured:
            continue
        shown = history_of(each.aspect, each.standings)
        thinned |= shown.is_thinned
        draw = partial(draw_history, shown, f"Measurements of {name} over trials")
        wide, narrow = (
            ((960, 300), (400, 260)) if each.outcome.is_goal else ((960, 220), (400, 220))
        )
        title = f"{text_of(name, 60)} <small>{text_of(wish_of(each.outcome))}</small>"
        drawings = two_sizes(draw, wide, narrow)
        figures.append(f"<figure><figcaption>{title}</figcaption>{drawings}</figure>")
    if not figures:
        return ""
    note = (
        "The blue line is what the model believes of the outcome at the best setting found so far,"
        " given all measurements together. The faint line is the best single value measured, which"
        " noise flatters; red is a limit."
    )
    if len(facts.outcomes.goals) > 1:
        note = (
            "The faint line is the best single value measured, which noise flatters; red is a"
            " limit. With several goals no setting is the best one."
        )
    if facts.outcomes.limits:
        note += (
            " It is the best of the trials that hold every limit as they were measured, if any do."
        )
    if thinned:
        note += " Of measurements that would cover each other one is drawn."
    keys = [("key-measured", "measurement ± noise"), ("key-raw", "raw best (naive)")]
    if len(facts.outcomes.goals) == 1:
        keys.insert(1, ("key-incumbent", "best setting: posterior mean ± std"))
    if facts.outcomes.limits:
        keys.append(("key-limit", "limit"))
    keys.append(("key-failed", "failed"))
    body = "".join(figures)
    return panel("convergence", "Measurements of each outcome", body, note, legend(*keys))
