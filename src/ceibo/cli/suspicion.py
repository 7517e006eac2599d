"""Measurements that look wrong, in the shell."""

from dataclasses import asdict
from typing import Any

import typer

from ceibo.decide.suspects import sentences_about
from ceibo.study import Study


def print_suspects(study: Study) -> None:
    """Prints which measurements look wrong, and what to do; nothing if none does."""
    sentences = sentences_about(study.suspects)
    if sentences:
        typer.echo()
    for sentence in sentences:
        typer.echo(sentence)


def suspects_json(study: Study) -> dict[str, Any]:
    """The same as plain data, under "suspects"; empty if there are none."""
    found = []
    for each in study.suspects:
        data = asdict(each) | {"deviations": each.deviations}
        found.append({"trial": data.pop("number")} | data)
    return {"suspects": found} if found else {}
