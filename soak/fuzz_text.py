"""Hostile pieces of text, and random damage to a text."""

import random
from typing import Final

PIECES: Final = (
    *("", " ", "\t", "\r", "\n", "\r\n", "\0", "\x1b[31m", "\x7f", "\ufeff", "\u202e", "\u2028"),
    *("'", '"', '""', "\\", "`", "#", ",", ";", ":", "=", "+", "-", "@", "|", "&", "<", ">", "%"),
    *(
        "=1+1",
        "@SUM(A1)",
        "'=x",
        "''",
        "+",
        "-",
        "−5",
        "±",
        "+/-",
        "<b>",
        "&lt;",
        "{",
        "}",
        "[",
        "]",
    ),
    *("é", "日本", "🌳", "ß", "İ", "x" * 300, "9" * 30, "0x10", "1_000", "1,5", "1.234,5", "1 000"),
    *("nan", "inf", "-inf", "NaN", "Infinity", "true", "null", "None", "TRUE", "0", "1", "-0.0"),
    *("1e9999999999", "1e-9999999999", "0e9999999999", "1e308", "5e-324", "9" * 400, "9" * 5000),
    *("1.5", "-2", "3", "0.25", "1e3", ".5", "5.", "1e", "e5", "--", "1e−5", "٣", "½", "²"),
)
NUMBERS: Final = (
    *("0", "1", "-1", "0.5", "1e300", "-1e300", "1e-320", "1e999", "nan", "inf", "-inf", "1e"),
    *("9" * 25, "9" * 5000, "0x" + "f" * 5000, "1_0", "+5", "-0.0", "true", '"a"', "[]", "{}"),
    *("1.7976931348623157e308", "5e-324", "2e-16", "1e15", "1e16", "10", "100", "3.5", "''"),
)


def some_text(rng: random.Random, most: int = 4) -> str:
    """A few hostile pieces together."""
    return "".join(rng.choice(PIECES) for _ in range(rng.randint(0, most)))


def mutate(rng: random.Random, content: bytes) -> bytes:
    """The content with one to four things wrong: cut, doubled, moved, overwritten, inserted."""
    for _ in range(rng.randint(1, 4)):
        at, end = sorted(rng.randint(0, len(content)) for _ in range(2))
        end = min(end, at + rng.choice([1, 3, 20, 200]))
        way = rng.randrange(7)
        piece = some_text(rng, 2).encode("utf-8", "surrogatepass")
        if way == 0:
            content = content[:at] + content[end:]
        elif way == 1:
            content = content[:at] + content[at:end] * 2 + content[end:]
        elif way == 2:
            content = (
                content[:at] + bytes(rng.randrange(256) for _ in range(end - at)) + content[end:]
            )
        elif way == 3:
            content = content[:at] + piece + content[end:]
        elif way == 4:
            content = content[:at] + piece + content[at:]
        elif way == 5:
            content = content[:at] + rng.choice(NUMBERS).encode() + content[end:]
        else:
            lines = content.splitlines(keepends=True)
            rng.shuffle(lines)
            content = b"".join(lines)
    return content
