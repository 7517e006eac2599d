"""Text for people: no control characters, values and parameters on one line."""

import json
from collections.abc import Mapping, Sequence

from ceibo.numbers import rounded


def escape(text: str, keep: str = "") -> str:
    """The text with control characters and direction marks made visible, except those to keep."""
    shown = (
        each if each.isprintable() or each in keep else each.encode("unicode_escape").decode()
        for each in text
    )
    return "".join(shown)


def shorten(text: str, width: int) -> str:
    """The text cut to a width; an ellipsis stands for the rest."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def shorten_apart(texts: Sequence[str], width: int) -> list[str]:
    """Different texts cut to a width so that they stay different: in the middle if need be.

    Of the name of a parameter in a pipeline, such as sgdclassifier__alpha, the end is kept.
    """
    ends = [_end_of(text) if len(text) > width else text for text in texts]
    if len({shorten(end, width) for end in ends}) == len(ends):
        texts = ends
    cut = [shorten(text, width) for text in texts]
    if len(set(cut)) == len(cut):
        return cut
    tail = (width - 1) // 2
    head = width - 1 - tail
    middle = [f"{t[:head]}…{t[-tail:]}" if len(t) > width else t for t in texts]
    if len(set(middle)) == len(middle):
        return middle
    return [shorten(f"{place}: {text}", width) for place, text in enumerate(texts)]


def _end_of(name: str) -> str:
    """The name without the steps of the pipeline that it is in."""
    steps, _, end = name.rpartition("__")
    return f"…{end}" if steps and end else name


def one_line(value: object, width: int = 60) -> str:
    """A value on one line; numbers have six digits."""
    text = rounded(value) if isinstance(value, float) else str(value)
    return shorten(escape(text), width)


def params_line(params: Mapping[str, object], width: int = 60) -> str:
    """Parameters on one line; each name and each value has at most `width` characters."""
    return "  ".join(
        f"{one_line(name, width)}={one_line(value, width)}" for name, value in params.items()
    )


def reason_line(reason: str) -> str:
    """The line of a failure's reason that says most: the last of a traceback, else the first."""
    lines = reason.strip().splitlines() or [""]
    return lines[-1] if lines[0].startswith("Traceback") else lines[0]


def plural(number: int, noun: str) -> str:
    """A number of things: 1 row, 2 rows."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def to_text(value: object) -> str:
    """A value as a program reads it: floats round-trip; tuples, true, false, null as in JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, tuple):
        return json.dumps(value, ensure_ascii=False)
    return repr(value) if isinstance(value, float) else str(value)
