"""Records put away: one small compressed file per experiment, always the same bytes."""

from pathlib import Path

from ceibo_lab.plans import EXPERIMENTS
from ceibo_lab.records import Read, pack, read


def archive(source: Path, target: Path) -> tuple[Read, dict[str, int]]:
    """Packs the records of `source` into `target`, each under the first experiment with its cell.

    Returns what was read, and how many records each experiment got; cells that belong to none are
    under "other".
    """
    found = read(source)
    homes: dict[str, str] = {}
    for experiment in EXPERIMENTS.values():
        for cell in [*experiment.cells(), *experiment.cells(quick=True)]:
            homes.setdefault(cell.key, experiment.id)
    groups: dict[str, list[dict[str, object]]] = {}
    for record in found.records:
        groups.setdefault(homes.get(record["key"], "other"), []).append(record)
    return found, {
        name: pack(records, target / f"{name}.jsonl.gz") for name, records in sorted(groups.items())
    }
