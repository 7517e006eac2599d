"""Rules of a study: stored with it, kept by what is queued, not asked of facts."""

import json
from pathlib import Path

import pytest
import sqlalchemy as sa

import ceibo
from ceibo.errors import InputError, NewerSchemaError, StorageError
from ceibo.study.store.checksum import checksum_of_row
from ceibo.study.store.schema import studies

PARTS = {"a": ceibo.Float(0, 1), "b": ceibo.Float(0, 1)}
SPACE = ceibo.Space(PARTS, ["a + b <= 1"])
OUTCOMES = {"yield": ceibo.Maximize(), "impurity": ceibo.AtMost(2)}


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'lab.db'}"


def row_of(url: str) -> sa.Row[tuple[object, ...]]:
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        row = connection.execute(sa.select(studies)).one()
    engine.dispose()
    return row


def rewrite(url: str, data: object) -> None:
    """Other data in the only study, with the checksum that belongs to it."""
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.execute(sa.update(studies).values(data=json.dumps(data)))
        row = connection.execute(sa.select(studies)).one()
        connection.execute(sa.update(studies).values(checksum=checksum_of_row(studies, row)))
    engine.dispose()


def test_rules_are_stored_with_the_study(url: str) -> None:
    ceibo.Study.create(SPACE, storage=url).close()
    study = ceibo.Study.open(url, space=SPACE)
    assert study.space == SPACE
    assert json.loads(str(row_of(url).data)) == {
        "constraints": ["a + b <= 1"],
        "outliers": True,
        "varying_noise": True,
    }
    study.close()
    with pytest.raises(InputError, match=r"rule 'a \+ b <= 1' is stored but not given now"):
        ceibo.Study.open(url, space=PARTS)


def test_rules_are_stored_beside_outcomes(url: str) -> None:
    ceibo.Study.create(SPACE, storage=url, outcomes=OUTCOMES).close()
    study = ceibo.Study.open(url)
    assert study.space == SPACE
    assert dict(study.outcomes or {}) == OUTCOMES
    assert json.loads(str(row_of(url).data)).keys() == {
        "outcomes",
        "constraints",
        "outliers",
        "varying_noise",
    }
    study.close()


def test_a_plain_study_has_no_data(url: str) -> None:
    ceibo.Study.create(PARTS, storage=url, outliers=False, varying_noise=False).close()
    assert row_of(url).data is None


def test_rules_that_this_version_cannot_read_and_other_data_are_refused(url: str) -> None:
    ceibo.Study.create(SPACE, storage=url).close()
    wrong: list[object] = [["a ** 2 <= 1"], "a <= 1", [1], {}]
    for rules in wrong:
        rewrite(url, {"constraints": rules})
        with pytest.raises(StorageError, match="cannot be used here"):
            ceibo.Study.open(url)
    unknown: list[object] = [{"constraints": ["a <= 1"], "weights": 1}, {}, []]
    for data in unknown:
        rewrite(url, data)
        with pytest.raises(NewerSchemaError, match="upgrade ceibo"):
            ceibo.Study.open(url)


def test_what_is_queued_holds_the_rules_and_facts_need_not() -> None:
    study = ceibo.Study.create(SPACE)
    with pytest.raises(InputError, match=r"breaks the rule 'a \+ b <= 1', with a=0.75  b=0.5"):
        study.enqueue({"a": 0.75, "b": 0.5})
    assert study.trials == ()
    assert study.enqueue({"a": 0.5, "b": 0.5}).params == {"a": 0.5, "b": 0.5}
    assert study.add({"a": 0.75, "b": 0.5}, 1.0).params == {"a": 0.75, "b": 0.5}
    assert study.add_all([({"a": 1.0, "b": 1.0}, 2.0), ({"a": 0.0, "b": 0.0}, 2.0)]) == [2, 3]


def test_a_study_goes_on_with_its_rules_and_no_others(url: str) -> None:
    def bowl(params: dict[str, float]) -> float:
        return (params["a"] - 0.3) ** 2

    ceibo.minimize(bowl, SPACE, n_trials=2, storage=url, name="bowl", progress=False)
    result = ceibo.minimize(bowl, SPACE, n_trials=3, storage=url, name="bowl", progress=False)
    assert len(result.study.trials) == 3
    assert result.study.space == SPACE
    with pytest.raises(InputError, match="is stored but not given now"):
        ceibo.minimize(bowl, PARTS, n_trials=4, storage=url, name="bowl", progress=False)


def test_a_space_that_cannot_hold_its_rules_begins_no_study(url: str) -> None:
    with pytest.raises(InputError, match="cannot hold together"):
        ceibo.Study.create(ceibo.Space(PARTS, ["a + b <= 0.5", "a >= 0.6"]), storage=url)
