"""From a parameter set to the arguments and the environment of a command, without a shell.

`{name}` in an argument stands for a parameter; `{{` and `}}` stand for braces. Each parameter is in
the environment too, as CEIBO_<name>.

A parameter that does not exist in a setting leaves nothing behind: not the argument that names it,
nor the option before it that takes it as its value (`--rate {rate}`, `-D m={m}`), nor a variable
of the environment.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from ceibo.checks import nearest
from ceibo.decide.space import Params, Space
from ceibo.errors import InputError
from ceibo.text import to_text

PREFIX: Final = "CEIBO_"


@final
@dataclass(frozen=True)
class Template:
    """A command with placeholders, checked against a space when it is made."""

    argv: tuple[str, ...]
    space: Space
    folder: Path
    timeout: float | None = None

    def __post_init__(self) -> None:
        for name, dimension in self.space.dimensions.items():
            if any(character in name for character in "{}="):
                raise InputError(
                    f"parameter {name!r}: a name with {{, }} or = can be no placeholder or"
                    " environment variable of a command; choose another name."
                )
            for choice in dimension.listed or ():
                if "\0" in str(choice):
                    raise InputError(
                        f"parameter {name!r}: no argument can hold the NUL character of {choice!r}."
                    )
        if any("\0" in argument for argument in self.argv):
            raise InputError("command.argv: no argument can hold a NUL character.")
        example = dict.fromkeys(self.space.names, "")
        for argument in self.argv:
            self._fill(argument, example)
        if self.argv and (absent := self._conditional(self.argv[0])):
            raise InputError(
                f"command.argv: the program {self.argv[0]!r} depends on {absent[0]!r}, which does"
                " not exist in every setting; name a program that does."
            )

    def arguments(self, params: Params) -> list[str]:
        """The arguments for one parameter set; each stays one argument, whatever it holds."""
        values = {name: to_text(value) for name, value in params.items()}
        if self.space.conditions is None:
            return [self._fill(argument, values) for argument in self.argv]
        kept: list[tuple[str, bool]] = []  # and whether it is an option by itself
        for argument in self.argv:
            named = self._conditional(argument)
            if all(name in values for name in named):
                is_option = argument.startswith("-") and "{" not in argument and "=" not in argument
                kept.append((self._fill(argument, values), is_option))
            elif kept and kept[-1][1] and _is_value(argument, kept[-1][0]):
                kept.pop()  # an option of which this was the value
        return [argument for argument, _ in kept]

    def _conditional(self, argument: str) -> list[str]:
        """The parameters in an argument that do not exist in every setting."""
        bare = argument.replace("{{", "").replace("}}", "")
        names = self.space.names
        return [each for each in names if self.space.is_conditional(each) and f"{{{each}}}" in bare]

    def environment(self, params: Params) -> dict[str, str]:
        """What is added to the environment for one parameter set."""
        return {f"{PREFIX}{name}": to_text(value) for name, value in params.items()}

    def check_program(self) -> None:
        """Refuses a program that is not there; one that depends on a parameter is not checked."""
        program = self.argv[0]
        if "{" in program:
            return
        where = self.folder / program if os.sep in program else program
        if shutil.which(where) is None:
            why = "it is not in PATH"
            if os.sep in program:
                why = f"{where} does not exist or may not be executed"
            raise InputError(f"command.argv: cannot find the program {program!r}: {why}.")

    def _fill(self, argument: str, values: dict[str, str]) -> str:
        parts = []
        rest = argument
        while rest:
            before, brace, rest = _split(rest)
            parts.append(before)
            if brace == "}":
                parts.append("}")
                rest = rest.removeprefix("}")
            elif brace == "{" and rest.startswith("{"):
                parts.append("{")
                rest = rest[1:]
            elif brace == "{":
                name, close, rest = rest.partition("}")
                if not close or name not in values:
                    raise InputError(_unknown_placeholder(argument, name, list(values)))
                parts.append(values[name])
        return "".join(parts)


def _is_value(argument: str, option: str) -> bool:
    """Whether an argument with a parameter is the value of the option before it.

    In "--rate {rate}" and "-D m={m}" it is; in "--multirun m={m}" the option stands by itself.
    """
    is_short = len(option) == len("-D")
    return argument.startswith("{") or (is_short and not argument.startswith("-"))


def _split(text: str) -> tuple[str, str, str]:
    """Text before the first brace, the brace, and the text after it."""
    found = [index for index in (text.find("{"), text.find("}")) if index >= 0]
    at = min(found, default=len(text))
    return text[:at], text[at : at + 1], text[at + 1 :]


def _unknown_placeholder(argument: str, name: str, known: list[str]) -> str:
    close = nearest(name, known)
    advice = "" if close is None else f" Did you mean {{{close}}}?"
    return (
        f"command.argv: {argument!r} has the placeholder {{{name}}}, but the space has"
        f" {', '.join(known)}.{advice} A brace itself is written {{{{ or }}}}."
    )
