"""Values on record put into another block; all else of them stays as it is."""

from collections.abc import Iterable
from dataclasses import replace

from ceibo.decide import Measurement
from ceibo.decide.block_names import Block
from ceibo.study.store.records import StoredMeasurement
from ceibo.study.study import Study


def put_into_block(
    study: Study, number: int, told: Iterable[StoredMeasurement], block: Block
) -> list[dict[str, Measurement]]:
    """Puts measurements of a trial into a block; returns what they were by outcome, key by key."""
    together: dict[str, dict[str, Measurement]] = {}
    for each in told:
        together.setdefault(each.key, {})[each.outcome] = each.measurement
    for key, wrong in together.items():
        bare = {name: replace(each, block=()) for name, each in wrong.items()}
        study.correct(number, bare.get("", bare), key=key, block=dict(block))
    return list(together.values())
