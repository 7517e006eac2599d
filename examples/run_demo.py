"""Optimises a noisy process end to end, in a file that the next run goes on with.

Run it with `make run`, or `python examples/run_demo.py`. Run it again to see it continue; delete
ceibo-demo.db to start afresh.
"""

import math
import random
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import ceibo

FILE = Path("ceibo-demo.db")
TRIALS = 30  # at most in one run
NOISE = 0.5  # standard deviation of one measurement; the process ranges over about 10
PRICE = 0.05  # of one measurement, in the units of the process
SPACE = {
    "temperature": ceibo.Float(20, 90),
    "rate": ceibo.Float(1e-4, 1e-1, log=True),
    "solvent": ceibo.Categorical(["water", "ethanol", "acetone"]),
}
BEST = {"temperature": 61.0, "rate": 4e-3, "solvent": "ethanol"}


def truth(params: dict[str, Any]) -> float:
    """Loss of yield, 0 at BEST; in practice it is not known."""
    heat = (params["temperature"] - BEST["temperature"]) / 35.0
    rate = math.log10(params["rate"] / BEST["rate"])
    solvent = {"water": 1.2, "ethanol": 0.0, "acetone": 0.8}[params["solvent"]]
    return float(2.0 * heat**2 + 1.5 * (rate + 0.5 * heat) ** 2 + solvent)


def measure(params: dict[str, Any]) -> ceibo.Measurement:
    """What the experiment returns: the truth and an error."""
    return ceibo.Measurement(truth(params) + random.gauss(0, NOISE), noise=NOISE)


def main() -> None:
    console = Console(highlight=False)
    storage, before = f"sqlite:///{FILE}", 0
    if FILE.exists():
        before = len(ceibo.Study.open(storage, "demo", space=SPACE).trials)
        console.print(
            f"[bold]Going on with {FILE}[/], which holds {before} trials. Delete it to start"
            " afresh.\n"
        )
    else:
        console.print(
            "[bold]Minimise the loss of a reaction[/] over temperature, rate and solvent, measured"
            f" with an error of\n±{NOISE}. Everything is stored in {FILE}: stop with Ctrl-C, run it"
            " again, and it goes on.\n"
        )
    random.seed(before)  # other errors than the last time
    result = ceibo.minimize(
        measure,
        SPACE,
        n_trials=before + TRIALS,
        cost=PRICE,
        storage=storage,
        name="demo",
        seed=2,
        progress=True,
    )
    report(console, result)


def report(console: Console, result: ceibo.Result) -> None:
    """Prints the raw best, the two answers beside the truth, and why the run ended."""
    raw, best, recommended = result.best_observed, result.best, result.recommended
    table = Table(
        title=f"After {len(result.study.trials)} trials (the truth: 0 at {_settings(BEST)})"
    )
    for column in ("", "settings", "claims", "true loss"):
        table.add_column(column, justify="left" if column in ("", "settings") else "right")
    for name, params, claim, std in (
        ("lowest value measured", raw.params, raw.value, NOISE),
        ("best measured setting", best.params, best.mean, best.std),
        ("best setting anywhere", recommended.params, recommended.mean, recommended.std),
    ):
        table.add_row(name, _settings(params), f"{claim:+.2f} ± {std:.2f}", f"{truth(params):+.2f}")
    console.print()
    console.print(table)
    console.print(f"\n[bold]Raw and honest.[/] {_sentence(raw.why)}")
    console.print(
        f"[bold]How sure.[/] Trial {best.number} is the best of all measured with"
        f" {best.probability:.0%} chance."
    )
    console.print(f"[bold]Why it ended.[/] {_sentence(result.stop.message)}")


def _settings(params: dict[str, Any]) -> str:
    return f"{params['temperature']:.0f} °C, {params['rate']:.2g}, {params['solvent']}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


if __name__ == "__main__":
    main()
