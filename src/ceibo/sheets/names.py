"""Names of columns: as they are compared, and with a unit behind them."""

import re
import unicodedata
from typing import Final

_UNITS: Final = (
    re.compile(r"(?P<name>.*\S)\s*[(\[](?P<unit>(?:[^()\[\]]|[(\[][^()\[\]]*[)\]])*)[)\]]"),
    re.compile(r"(?P<name>.*\S)\s*,\s*(?:in\s+)?(?P<unit>\S+)"),
    re.compile(r"(?P<name>.*\S)\s+(?:/|in)\s+(?P<unit>\S+)"),
)
_GAP: Final = re.compile(r"[\s_]+")


def normalize(text: str) -> str:
    """A text with composed characters and no spaces around it, as it is compared."""
    return unicodedata.normalize("NFC", text).strip()


def fold(text: str) -> str:
    """The same without capitals, and with a space for every gap and underscore."""
    return _GAP.sub(" ", normalize(text).casefold()).strip()


def split_unit(header: str) -> tuple[str, str]:
    """The name in a header and its unit, as in Time (h); the unit is empty if there is none."""
    text = normalize(header)
    for form in _UNITS:
        found = form.fullmatch(text)
        if found is not None:
            return found["name"], found["unit"].strip()
    return text, ""
