"""Pieces of forms: labelled fields, and steps that say what they will do before they do it."""

from typing import Final

from ceibo.report.svg import text_of

LONGEST: Final = 10_000  # characters of a text that is typed


def field(
    identifier: str, label: str, name: str, *, hint: str = "", mode: str = "text", value: str = ""
) -> str:
    """A labelled field of one line, with what it begins with."""
    holder = f' placeholder="{text_of(hint)}"' if hint else ""
    known = ' list="blocks"' if name == "block" else ""
    begun = f' value="{text_of(value, LONGEST)}"' if value else ""
    return (
        f'<p class="field"><label for="{identifier}">{text_of(label, 130)}</label>'
        f'<input id="{identifier}" name="{name}" type="text" inputmode="{mode}"'
        f' autocomplete="off" maxlength="{LONGEST}"{holder}{known}{begun}></p>'
    )


def hidden(name: str, value: int) -> str:
    """A whole number that a form carries."""
    return f'<input type="hidden" name="{name}" value="{value}">'


def submit(label: str, kind: str = "main") -> str:
    """The button of a form, with the place of what is said after it was pressed."""
    button = f'<button type="submit" class="{kind}">{text_of(label)}</button>'
    return f'<p class="send">{button}</p><p class="said" role="alert"></p>'


def step(opening: str, action: str, body: str, label: str, kind: str = "danger") -> str:
    """Something not to be done by accident: opened first, then done by a button that says what."""
    form = f'<form data-action="{action}">{body}{submit(label, kind)}</form>'
    return f"<details><summary>{text_of(opening)}</summary>{form}</details>"
