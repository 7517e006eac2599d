"""`ceibo best`: the answer, with how sure it is."""

import typer

from ceibo.cli.common import (
    AsJson,
    File,
    Storage,
    estimate_json,
    one_line,
    open_study,
    print_json,
    rounded,
)
from ceibo.decide import Measurement
from ceibo.study import Study


def best(file: File, storage: Storage = None, json: AsJson = False) -> None:
    """The best setting measured, the recommended one, and the raw best beside them."""
    _, study = open_study(file, storage)
    if json:
        raw = study.best_observed
        observed = {
            "params": raw.params,
            "value": raw.value,
            "noise": raw.noise,
            "trial": raw.number,
            "why": raw.why,
        }
        print_json(
            {
                "best": estimate_json(study.best),
                "recommended": estimate_json(study.recommended),
                "best_observed": observed,
            }
        )
        return
    summary(study)


def summary(study: Study) -> None:
    """The three answers of a study, for people."""
    found, advice, raw = study.best, study.recommended, study.best_observed
    sure = (
        ""
        if found.probability is None
        else f", the best of all measured with probability {found.probability:.2f}"
    )
    typer.echo(f"best         {rounded(found.mean, found.std)}  (trial {found.number}{sure})")
    typer.echo(f"recommended  {rounded(advice.mean, advice.std)}  (may never have been measured)")
    typer.echo(
        f"raw best     {Measurement(raw.value, raw.noise)}  (trial {raw.number}; what a naive tool"
        " would report)"
    )
    rows = [("", "best", "recommended")]
    for name in study.space.names:
        rows.append(
            (
                one_line(name, 24),
                one_line(found.params[name], 24),
                one_line(advice.params[name], 24),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    typer.echo()
    for row in rows:
        typer.echo(
            "  "
            + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )
    if raw.number != found.number:
        typer.echo(f"\n{raw.why}")
