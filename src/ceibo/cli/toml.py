"""Values as a study file writes them."""

import json
from typing import Any

from ceibo.errors import Given, show_value
from ceibo.text import shorten


def to_toml(value: Any, key: bool = False) -> str:
    """A value as TOML writes it; numbers in their shortest form that reads back the same."""
    if key and value.replace("-", "_").isidentifier() and value.isascii():
        return str(value)
    if isinstance(value, dict):
        entries = [f"{to_toml(name, key=True)} = {to_toml(each)}" for name, each in value.items()]
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, list | tuple):
        # in a list of choices 1.0 and 1 are two
        entries = [repr(each) if isinstance(each, float) else to_toml(each) for each in value]
        return f"[{', '.join(entries)}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def given_in_toml(given: Given) -> str:
    """A value in an error, with its key if it has one, as a study file writes it."""
    try:
        text = shorten(to_toml(given.value), 2000)
    except (ValueError, RecursionError):
        text = show_value(given.value)
    return f"{given.name} = {text}" if given.name else text
