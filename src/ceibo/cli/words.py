"""Settings in words such as temp=50, as a shell gives them."""

from collections.abc import Sequence

from ceibo.checks import ask_nearest
from ceibo.decide import Space
from ceibo.decide.space import Params
from ceibo.errors import InputError
from ceibo.sheets.numerals import Numbers
from ceibo.sheets.settings import setting_of


def read_words(words: Sequence[str], space: Space, option: str = "") -> Params:
    """The values of parameters in words such as temp=50; `option` is where they were given."""
    numbers = Numbers(",")
    about = f"{option}: " if option else ""
    found: Params = {}
    for word in words:
        name, sign, text = (part.strip() for part in word.partition("="))
        if not sign:
            what = option or "settings"
            raise InputError(f"expected {what} such as {space.names[0]}=VALUE, got {word!r}.")
        if name not in space.dimensions:
            end = ask_nearest(name, space.names)
            raise InputError(f"{about}there is no parameter {name!r}{end}")
        if name in found:
            raise InputError(f"{about}the parameter {name!r} is given twice; once is enough.")
        found[name] = setting_of(space, name, text, numbers)
    return found
