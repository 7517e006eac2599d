"""What blocks did to the values measured in them, printed beside the answers of a study."""

from dataclasses import asdict
from typing import Any

import typer

from ceibo.study import Study


def print_blocks(study: Study) -> None:
    """Prints the effects of blocks, if any were told."""
    found = study.blocks
    for name, effects in (found if isinstance(found, dict) else {"": found}).items():
        if effects:
            typer.echo(f"\n{name + ', ' if name else ''}effects of {effects}")


def blocks_json(study: Study) -> dict[str, Any]:
    """The effects of blocks as plain data, if any were told."""
    found = study.blocks
    if not isinstance(found, dict):
        return {"blocks": [asdict(each) for each in found]} if found else {}
    told = {name: [asdict(each) for each in effects] for name, effects in found.items()}
    return {"blocks": told} if any(told.values()) else {}
