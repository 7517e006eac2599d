"""Numbers as people write and read them.

They are read strictly: what could mean two things is no number.
"""

import math
import re
from typing import Final

MINUS: Final = "\N{MINUS SIGN}"
_NUMBER: Final = re.compile(
    r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.ASCII | re.IGNORECASE
)
_WHOLE: Final = re.compile(r"[+-]?\d+", re.ASCII)
_HEAD: Final = re.compile(r"[+-]?\d{1,3}", re.ASCII)
_THOUSANDS: Final = re.compile(r"0\d\d(\.\d*)?", re.ASCII)


def to_number(text: str) -> int | float | None:
    """The number that a text is, with a decimal point, or None; 1_000, 0x10 and 66,5 are none."""
    plain = text.strip().replace(MINUS, "-")
    # whole numbers keep all their digits
    if _WHOLE.fullmatch(plain) and len(plain) < 400:
        return int(plain)
    return float(plain) if _NUMBER.fullmatch(plain) else None


def with_point(text: str) -> str | None:
    """A number with a decimal comma (1.234,5) written with a point (1234.5); None if it is none."""
    head, comma, tail = text.strip().rpartition(",")
    if not comma or "," in head or "." in tail:
        return None
    written = f"{head.replace('.', '')}.{tail}"
    digits = head[-1:].isdigit() and tail[:1].isdigit()
    return written if digits and to_number(written) is not None else None


def is_split_thousand(before: str, word: str) -> bool:
    """Whether two words are one number with a gap, as in `1 000`; no number is written 000."""
    return bool(_HEAD.fullmatch(before) and _THOUSANDS.fullmatch(word))


def with_uncertainty(mean: float, std: float) -> str:
    """A mean with its standard deviation to two digits, itself to as many places: 71.6 ± 4.0."""
    if not (math.isfinite(mean) and math.isfinite(std) and std > 0):
        return f"{mean:.6g} ± {std:.2g}"
    shown = f"{std:.1e}"  # rounded first, since 0.0996 is 0.10
    decimals = 1 - int(shown.partition("e")[2])
    if decimals > 8 or max(abs(mean), std) >= 1e9:
        return f"{mean:.6g} ± {std:.2g}"
    places = max(decimals, 0)
    return f"{round(mean, decimals) + 0.0:.{places}f} ± {float(shown):.{places}f}"
