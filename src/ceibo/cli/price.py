"""The option that says what a measurement costs."""

import math
import sys
from typing import Annotated

import typer

from ceibo.numbers import to_number, with_point


def read_price(text: str) -> float:
    """A price as it was typed; an error that shows a decimal comma as a point."""
    number = to_number(text)
    if number is None:
        point = with_point(text)
        meant = "" if point is None else f"; numbers have a decimal point: {point}"
        raise typer.BadParameter(f"expected a number, got {text!r}{meant}.")
    return math.inf if abs(number) > sys.float_info.max else float(number)


Price = Annotated[
    float | None,
    typer.Option(
        parser=read_price,
        metavar="NUMBER",
        help="Price of a measurement, in the objective's units.",
        show_default=False,
    ),
]
