"""The measurements over the trials, with the best setting's posterior and the raw best."""

from functools import partial

from ceibo.report.facts import Facts
from ceibo.report.history import draw_history, history_of
from ceibo.report.parts import legend, panel, two_sizes


def convergence(facts: Facts) -> str:
    """The panel of convergence; empty before the first measurement."""
    if facts.findings is None:
        return ""
    shown = history_of(facts.aspect(facts.findings), facts.findings.standings)
    label = "Measurements over trials with the best setting's posterior mean"
    drawings = two_sizes(partial(draw_history, shown, label), (960, 360), (400, 300))
    note = (
        "The blue line is what the model believes of the best setting found so far, given all"
        " measurements together; the faint line is the best single value measured, which noise"
        " flatters."
    )
    if shown.is_thinned:
        note += " Of measurements that would cover each other one is drawn."
    keys = legend(
        ("key-measured", "measurement ± noise"),
        ("key-incumbent", "best setting: posterior mean ± std"),
        ("key-raw", "raw best (naive)"),
        ("key-failed", "failed"),
    )
    return panel("convergence", "Measurements and the best setting", drawings, note, keys)
