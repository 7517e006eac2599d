"""`ceibo backtest`: the space of a table's columns, the study file's, and what is printed."""

from pathlib import Path

import pytest

from ceibo import Categorical, Float, Int
from ceibo.cli.inferring import infer_space
from ceibo.errors import InputError
from tests.cli.cli_tools import Ceibo

STUDY = """
name = "past"
direction = "maximize"
[space]
temp = {type = "float", low = 0, high = 100}
solvent = {type = "categorical", choices = ["THF", "DMF", "water"]}
"""


def write(path: Path, separator: str = ",", point: str = ".") -> Path:
    """Thirty past runs, the best one last."""
    rows = [separator.join(["Run", "temp", "rate", "solvent", "operator", "Yield"])]
    for k in range(30):
        temp, solvent = (7 * k) % 101, ("THF", "DMF")[k % 2]
        rate, value = 1e-4 * 1.3**k, 50 + k - abs(k - 29) / 10
        numbers = [f"{each:.6g}".replace(".", point) for each in (rate, value)]
        rows.append(separator.join([str(k), str(temp), numbers[0], solvent, "A", numbers[1]]))
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_the_space_of_columns(tmp_path: Path) -> None:
    for separator, point in ((",", "."), (";", ",")):
        path = write(tmp_path / "past.csv", separator, point)
        space, left_out = infer_space(path, "Yield", None)
        assert space.dimensions == {
            "temp": Int(0, 98),
            "rate": Float(1e-4, space.dimensions["rate"].from_unit(1.0), log=True),  # type: ignore[arg-type]
            "solvent": Categorical(["THF", "DMF"]),
        }
        assert left_out == ["Run", "operator"]
        assert "rate" not in infer_space(path, "Yield", None, ["rate"])[0].dimensions


def test_a_table_without_parameters_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "past.csv"
    path.write_text("value,operator\n1,A\n2,A\n")
    with pytest.raises(InputError, match=r"one at least varies, got value, operator"):
        infer_space(path, None, None)


def test_what_is_printed(ceibo: Ceibo, tmp_path: Path) -> None:
    write(tmp_path / "past.csv")
    answer = ceibo("backtest", "past.csv", "--value", "Yield", "--maximize", "--seeds", "2")
    assert answer.status == 0, answer.err
    for said in (
        "float from 0.0001 to",
        "left out: Run, operator",
        "best measured value",
        "came as number 30 of 30 settings",
        "an order at random as number 15.5 on average",
        "not there to be found",
    ):
        assert said in answer.out


def test_a_study_file_says_the_space_and_the_direction(ceibo: Ceibo, tmp_path: Path) -> None:
    write(tmp_path / "past.csv")
    (tmp_path / "past.toml").write_text(STUDY)
    options = ("--file", "past.toml", "--value", "Yield", "--seeds", "2", "--json")
    found = ceibo("backtest", "past.csv", *options).json
    assert found["settings"] == 30
    assert found["best_measured"]["own"] == 30
    assert list(found["best_measured"]["params"]) == ["temp", "solvent"]
    assert len(found["best_measured"]["found"]) == 2
    assert not list(tmp_path.glob("*.db"))


def test_a_wrong_column_is_named(ceibo: Ceibo, tmp_path: Path) -> None:
    write(tmp_path / "past.csv")
    answer = ceibo("backtest", "past.csv")
    assert answer.status == 2
    assert "Name the column of the values with --value" in answer.err


def test_a_study_is_replayed_without_its_table(ceibo: Ceibo, tmp_path: Path) -> None:
    """A study file was read as a table, and its lines as columns."""
    (tmp_path / "past.toml").write_text(STUDY)
    missing = ceibo("backtest", "past.toml")
    assert missing.status == 2
    assert "has not begun" in missing.err
    write(tmp_path / "past.csv")
    assert ceibo("import", "past.toml", "past.csv", "--value", "Yield").status == 0
    by_study = ceibo("backtest", "past.toml", "--seeds", "2", "--json").json
    assert by_study["settings"] == 30
    url = f"sqlite:///{next(tmp_path.glob('*.db'))}"
    assert ceibo("backtest", url, "--seeds", "2", "--json").json == by_study


JOINT = """
name = "joint"
[space]
temp = {type = "float", low = 0, high = 100}
[outcomes]
yield = {goal = "maximize"}
impurity = {at_most = 2.0}
"""


def test_a_study_is_replayed_as_it_is(ceibo: Ceibo, tmp_path: Path) -> None:
    (tmp_path / "joint.toml").write_text(JOINT)
    ceibo("ask", "joint.toml", "--new", "-n", "12")
    for number in range(12):
        ceibo("tell", "joint.toml", number, f"yield={50 + number}", "impurity=1")
    options = ("--seeds", "2", "--json")
    study = ceibo("backtest", "joint.toml", *options).json
    assert study["best_measured"]["value"] == 61
    assert study["best_measured"]["own"] == 12
    assert ceibo("backtest", "joint.db", "--value", "yield", *options).json == study
    # its export is the same, with the goal of the file and without the other outcome
    ceibo("export", "joint.toml", "-o", "all.csv")
    assert ceibo("backtest", "all.csv", "--file", "joint.toml", *options).json == study
    # a column of another name is of the only goal, which is to be maximised
    table = (tmp_path / "all.csv").read_text().replace("yield", "Yield_pct")
    (tmp_path / "past.csv").write_text(table)
    past = ceibo("backtest", "past.csv", "--file", "joint.toml", "--value", "Yield_pct", *options)
    assert past.json["best_measured"]["value"] == 61
    refused = ceibo("backtest", "past.csv", "--value", "Yield_pct", "--skip", "rnu")
    assert "has no column 'rnu'" in refused.err
    space, left_out = infer_space(tmp_path / "all.csv", "yield", None)
    assert space.names == ("temp",)
    assert "impurity" in left_out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--maximize",), "joint.toml is a study; leave out --file"),
        (("--value", "impurity"), "expected a goal of the study, got 'impurity'; it has yield."),
    ],
)
def test_what_a_study_is_not_replayed_by(
    ceibo: Ceibo, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    (tmp_path / "joint.toml").write_text(JOINT)
    ceibo("ask", "joint.toml", "--new")
    assert message in ceibo("backtest", "joint.toml", *words).err
