"""Numbers as people write and read them.

They are read strictly: what could mean two things is no number.
"""

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

MINUS: Final = "\N{MINUS SIGN}"
_NUMBER: Final = re.compile(
    r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.ASCII | re.IGNORECASE
)
_WHOLE: Final = re.compile(r"[+-]?\d+", re.ASCII)
_HEAD: Final = re.compile(r"[+-]?\d{1,3}", re.ASCII)
_GROUPED: Final = re.compile(r"\d{1,3}(?:[\u00a0\u2007\u2009\u202f]\d{3})+(?:[.,]\d*)?(?!\d)")
_THOUSANDS: Final = re.compile(r"0\d\d([.,]\d*)?", re.ASCII)


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


def grouped_in(text: str) -> str:
    """A number with gaps that are not broken, as spreadsheets write thousands; empty if none is."""
    found = _GROUPED.search(text)
    return "" if found is None else found[0]


def is_split_thousand(before: str, word: str) -> bool:
    """Whether two words are one number with a gap, as in `1 000`; no number is written 000."""
    head = before.replace(MINUS, "-")
    return bool(_HEAD.fullmatch(head) and _THOUSANDS.fullmatch(word))


def rounded(value: float, digits: int = 6) -> str:
    """A number for people, to so many digits: six of what was measured, fewer of what follows."""
    return f"{value:.{digits}g}"


def distinct(values: Sequence[float]) -> list[str]:
    """Numbers of one axis or key, with as few digits as tell them apart."""
    largest = max(map(abs, values), default=0.0)
    texts: list[str] = []
    for digits in range(2, 18):
        texts = [_tidy(value, largest, digits) for value in values]
        exact = (abs(float(t) - v) <= 1e-3 * largest for t, v in zip(texts, values, strict=True))
        if len(set(texts)) == len(set(values)) and _is_even(texts, values) and all(exact):
            break
    return texts


def _tidy(value: float, largest: float, digits: int) -> str:
    """A number without the padding of its exponent; 0 if it is beside the others."""
    if abs(value) <= 1e-9 * largest:
        return "0"
    mantissa, e, exponent = f"{value:.{digits}g}".partition("e")
    if e and 0 <= int(exponent) < 6:
        return f"{value:.0f}"
    return f"{mantissa}e{int(exponent)}" if e else mantissa


def _is_even(texts: Sequence[str], values: Sequence[float]) -> bool:
    """Whether neighbours are as far apart as they are said to be, to a tenth."""
    for (a, b), (x, y) in zip(pairwise(texts), pairwise(values), strict=True):
        if abs((float(b) - float(a)) - (y - x)) > 0.1 * abs(y - x):
            return False
    return True


def with_uncertainty(mean: float, std: float) -> str:
    """A mean with its standard deviation to two digits, itself to as many places: 71.6 ± 4.0."""
    if not (math.isfinite(mean) and math.isfinite(std) and std > 0):
        return f"{rounded(mean)} ± {rounded(std, 2)}"
    shown = f"{std:.1e}"  # rounded first, since 0.0996 is 0.10
    decimals = 1 - int(shown.partition("e")[2])
    if decimals > 8 or max(abs(mean), std) >= 1e9:
        size = math.floor(math.log10(abs(mean))) if mean else 0
        return f"{rounded(mean, min(max(size + 1 + decimals, 6), 15))} ± {rounded(std, 2)}"
    places = max(decimals, 0)
    return f"{round(mean, decimals) + 0.0:.{places}f} ± {float(shown):.{places}f}"


def percent(probability: float | None) -> str:
    """A probability for people; what a model says is never certain, and may not be known."""
    if probability is None or math.isnan(probability):
        return "–"
    shown = f"{100 * probability:.0f} %"
    return {"100 %": "> 99 %", "0 %": "< 1 %"}.get(shown, shown)


def without_nan(data: Any) -> Any:
    """Plain data with None for NaN and infinities, which JSON does not have."""
    if isinstance(data, dict):
        return {key: without_nan(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [without_nan(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
