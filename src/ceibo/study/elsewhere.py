"""What another process gets in place of a study that an exception carries."""

from typing import Any, NoReturn, final

from ceibo.errors import InputError


@final
class Elsewhere:
    """Stands for a study that stayed in its process; whoever asks it for something is told so."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise InputError(self.sentence)

    def __reduce__(self) -> Any:
        return Elsewhere, (self.sentence,)
