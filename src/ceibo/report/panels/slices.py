"""The posterior and the expected improvement along each parameter, through the best setting."""

from ceibo.report.facts import Facts
from ceibo.report.parts import BLOCKS_NOTE, RULES_KEY, RULES_NOTE, legend, panel
from ceibo.report.slice import grid_of_slices


def slices(facts: Facts) -> str:
    """The panel of slices, one small drawing per parameter; empty before the first measurement."""
    if facts.findings is None:
        return ""
    findings = facts.findings
    body = grid_of_slices(findings.slices, facts.aspect(findings), findings.blocks)
    note = (
        "Each picture moves one parameter and keeps the others at the best setting (dashed line)."
        " Above: what the model believes, mean ± std, with the measurements, faint where they were"
        " made far away. Below: corrected expected improvement, where the next measurement promises"
        " most. Most important first."
    )
    keys = [("key-incumbent", "posterior mean ± std"), ("key-gain", "corrected EI")]
    if findings.blocks:
        note += BLOCKS_NOTE
    if facts.study.space.rules:
        note += RULES_NOTE
        keys.append(RULES_KEY)
    return panel("slices", "Around the best setting", body, note, legend(*keys))
