"""`ceibo best`: prints the best settings with their uncertainty."""

import typer

from ceibo.cli.block_answers import blocks_json, print_blocks
from ceibo.cli.common import (
    AsJson,
    File,
    Fixed,
    Storage,
    StudyName,
    estimate_json,
    print_json,
    print_table,
)
from ceibo.cli.joint_answers import has_front, print_joint_answers, print_recommended
from ceibo.cli.opening import open_study
from ceibo.cli.source import load
from ceibo.cli.suspicion import print_suspects, suspects_json
from ceibo.cli.words import read_words
from ceibo.decide import Measurement
from ceibo.decide.dialling import dial_setting
from ceibo.decide.space import Params
from ceibo.numbers import with_uncertainty
from ceibo.study import Study
from ceibo.study.repeats import measured_line
from ceibo.text import one_line


def best(
    file: File,
    fixed: Fixed = None,
    study_name: StudyName = None,
    storage: Storage = None,
    json: AsJson = False,
) -> None:
    """The best setting measured, the recommended one, and the raw best beside them.

    With several goals: the front, settings of which none is better in every goal. With --fixed:
    the setting recommended while parameters are held.
    """
    loaded = load(file, study_name)
    held = read_words(fixed or [], loaded.space, "--fixed")
    study = open_study(loaded, storage)
    if held:
        _show_recommended(study, held, json)
        return
    if json and has_front(study):
        front = [estimate_json(each) for each in study.front]
        answer = {"front": front, "raw_front": list(study.raw_front)}
        print_json(answer | blocks_json(study) | suspects_json(study))
        return
    if json:
        raw = study.best_observed
        observed = {"params": raw.params, "value": raw.value, "noise": raw.noise}
        observed |= {"trial": raw.number, "why": raw.why}
        answers = {"best": study.best, "recommended": study.recommended}
        estimates = {name: estimate_json(each) for name, each in answers.items()}
        further = _closeness_json(study) | blocks_json(study) | suspects_json(study)
        print_json(estimates | {"best_observed": observed} | further)
        return
    print_answers(study)


def _closeness_json(study: Study) -> dict[str, object]:
    """How close the best setting measured is to the best there is, of one objective."""
    if study.outcomes is not None:
        return {}
    found = study.closeness()
    return {"closeness": {"within": found.within, "probability": found.probability}}


def _show_recommended(study: Study, held: Params, json: bool) -> None:
    """The setting recommended while parameters are held."""
    found = study.recommend(held)
    if json:
        print_json({"recommended": estimate_json(found)})
        return
    if study.outcomes is None:
        typer.echo(f"recommended  {with_uncertainty(found.mean, found.std)}")
    else:
        print_recommended(found, study.outcomes)
    rows = [
        (one_line(name, 24), one_line(value, 24), "held" if name in held else "")
        for name, value in dial_setting(study.space, found.params, held).items()
    ]
    typer.echo()
    print_table(rows)


def print_answers(study: Study) -> None:
    """Prints the answers of a study, for people."""
    if study.outcomes is not None:
        print_joint_answers(study, study.outcomes)
    else:
        _print_one_answer(study)
    print_blocks(study)
    print_suspects(study)


def _print_one_answer(study: Study) -> None:
    """The answers of a study of one objective."""
    found, advice, raw = study.best, study.recommended, study.best_observed
    assert found.number is not None
    there, sure = measured_line(study.trials[found.number]), ""
    if found.probability is not None:
        sure = f", the best of all measured with probability {found.probability:.2f}"
    best_text = with_uncertainty(found.mean, found.std)
    advice_text = with_uncertainty(advice.mean, advice.std)
    raw_text = Measurement(raw.value, raw.noise)
    naive = "what a naive tool would report"
    typer.echo(f"best         {best_text}  (estimate; {there}{sure})")
    typer.echo(f"recommended  {advice_text}  (may never have been measured)")
    typer.echo(f"raw best     {raw_text}  (trial {raw.number}; {naive})")
    typer.echo(f"closeness    {study.closeness()}  (of the best setting measured, by the model)")
    rows: list[tuple[str, ...]] = [("", "best", "recommended")]
    dialled = dial_setting(study.space, advice.params)
    for name in study.space.names:
        values = (name, found.params.get(name, "-"), dialled.get(name, "-"))
        rows.append(tuple(one_line(value, 24) for value in values))
    typer.echo()
    if raw.number != found.number:
        typer.echo(f"{raw.why}\n")
    print_table(rows)
