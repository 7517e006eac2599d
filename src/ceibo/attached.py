"""Methods that a class declares and a layer above it provides.

A class writes the signature and the docstring of such a method under `@attached`; `ceibo/__init__`
says once, by `attach`, which function of a layer above is its body. Imports go one way, because the
function is looked up when the method is first called; users, type checkers and the reference see a
method like any other.
"""

from abc import ABC
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, Final, ParamSpec, TypeVar

from ceibo.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")

DECLARED: Final[dict[str, Callable[..., Any]]] = {}
"""The methods declared so far, by "Class.method"."""
PROVIDED: Final[dict[str, str]] = {}
"""The function that is the body of each: "package.module:function"."""


def attached(method: Callable[P, R]) -> Callable[P, R]:
    """Declares a method that a layer above provides; its own body is never run."""
    name = method.__qualname__

    @wraps(method)
    def call(*args: P.args, **options: P.kwargs) -> R:
        body: Callable[P, R] = provider(name)
        return body(*args, **options)

    DECLARED[name] = call
    return call


def attach(providers: Mapping[str, str]) -> None:
    """Says which functions are the bodies of declared methods.

    Args:
        providers: "Class.method" -> "package.module:function", which takes what the method takes.
    """
    PROVIDED.update(providers)


class Shown(ABC):  # noqa: B024 - what it declares is provided from above
    """Shows itself in a notebook as a compact piece of HTML, without a script."""

    @attached
    def _repr_html_(self) -> str:
        raise NotImplementedError


def provider(name: str) -> Callable[..., Any]:
    """The function that is the body of a declared method, whose module is imported if need be."""
    if name not in PROVIDED:
        raise InputError(f"{name} is provided by no part of ceibo; import ceibo first.")
    module, _, function = PROVIDED[name].partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found
