"""Comparisons in words and figures, as the report and the pages show them."""

import math
from typing import Final

from ceibo_lab.compare import Claim, Row, Verdict

HEAD: Final = (
    *("comparison", "n", "wins", "effect", "difference [95 %]", "p", "p (Holm)", "verdict"),
)
OLDER: Final = "†"  # marks a row from records of an older arithmetic


def row_cells(row: Row) -> list[str]:
    """A row of a table under HEAD."""
    found = row.comparison
    return [
        f"{row.label}{f' {OLDER}' if row.older else ''}",
        str(found.n),
        f"{row.wins}/{found.n}",
        f"{row.favour + 0.0:+.2f}",
        difference(row),
        p_value(found.p),
        p_value(row.corrected_p),
        row_verdict(row),
    ]


def difference(row: Row) -> str:
    """The estimated difference with its 95 % interval."""
    estimate, low, high = row.comparison.interval
    if not math.isfinite(low):
        return f"{estimate:+.3g} [too few]"
    return f"{estimate:+.3g} [{low:+.3g}, {high:+.3g}]"


def row_verdict(row: Row) -> str:
    """The verdict; of an undecided row also the difference that it would have been decided by."""
    if row.verdict is not Verdict.UNDECIDED:
        return str(row.verdict.value)
    if row.margin is not None:
        return f"undecided: the interval reaches across ±{row.margin:g}"
    if math.isinf(row.detectable):
        return "undecided: too few pairs for any difference"
    return f"undecided: would see {row.detectable:.2g}"


def claim_cells(claim: Claim) -> list[str]:
    """Of a claim: verdict, number of pairs, difference or counts; "–" where nothing was run."""
    rows = claim.table.rows
    if not rows:
        return [f"**{claim.verdict.value}**", "–", "–"]
    counts = sorted({row.comparison.n for row in rows})
    n = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    mark = f" {OLDER}" if any(row.older for row in rows) else ""
    if len(rows) > 1:
        return [f"**{claim.verdict.value}**{mark}", n, claim.table.counts]
    (row,) = rows
    more = row_verdict(row).removeprefix(claim.verdict.value)
    return [f"**{claim.verdict.value}**{more}{mark}", n, difference(row)]


def p_value(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3g}"
