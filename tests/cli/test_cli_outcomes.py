"""Studies with several outcomes at the shell, from the study file to the answer."""

import csv
import io
import json
import re
import sys
from pathlib import Path

import pytest

from ceibo.cli import studyfile
from ceibo.decide import AtMost, Maximize, Outcomes, Watch
from ceibo.errors import InputError, NotStoredError, StorageError
from ceibo.study import Study
from tests.cli.cli_tools import Answer, Ceibo

SPACE = """
name = "lab"
storage = "sqlite:///lab.db"
[space]
x = {type = "float", low = 0, high = 1}
y = {type = "float", low = 0, high = 1}
"""
LIMIT = """
[outcomes]
yield = {goal = "maximize", unit = "%", low = 0, high = 100}
impurity = {at_most = 2, unit = "%"}
colour = {watch = true}
"""
FRONT = """
[outcomes]
yield = {goal = "maximize"}
cost = {goal = "minimize", unit = "EUR"}
"""
CODE = (
    "import sys; x, y = map(float, sys.argv[1:]); print('lr=0.1'); print('done');"
    " print('yield', '=', 90 - 60 * (x - .6) ** 2, 0.5); print('impurity =', 3 * x, 0.1)"
)


def write(folder: Path, outcomes: str = LIMIT, code: str = CODE, extra: str = "") -> Path:
    path = folder / "lab.toml"
    argv = json.dumps([sys.executable, "-c", code, "{x}", "{y}"])
    tail = f"[command]\nargv = {argv}\n[stop]\ntrials = 5\n"
    path.write_text(f"{extra}{SPACE}{outcomes}{tail}", encoding="utf-8")
    return path


def table(file: Path, rows: int = 9) -> Path:
    """A CSV of settings on a grid, with a yield and a limit that holds below x = 2/3."""
    path = file.with_name("data.csv")
    lines = ["x,y,yield,yield_noise,impurity"]
    for k in range(rows):
        x, y = (k % 3) / 2, (k // 3) / 2
        lines.append(f"{x},{y},{90 - 60 * (x - 0.6) ** 2 - 5 * y},0.5,{3 * x}")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def lab(ceibo: Ceibo, tmp_path: Path) -> tuple[Ceibo, Path]:
    """`ceibo`, and a study file whose study has nine measured trials."""
    file = write(tmp_path)
    assert ceibo("import", file, table(file)).status == 0
    return ceibo, file


def test_a_study_file_has_outcomes(tmp_path: Path) -> None:
    file = studyfile.load(write(tmp_path, extra="confidence = 0.9\n"))
    assert file.outcomes == Outcomes(
        {
            "yield": Maximize(unit="%", low=0, high=100),
            "impurity": AtMost(2, unit="%"),
            "colour": Watch(),
        }
    )
    assert file.settings.confidence == 0.9
    assert file.direction is None
    assert studyfile.load(write(tmp_path)).settings.confidence == 0.95


@pytest.mark.parametrize(
    ("extra", "outcomes", "words"),
    [
        ('direction = "maximize"\n', LIMIT, ["direction", "its own", "goal"]),
        ("confidence = 1\n", LIMIT, ["confidence", "from 0.5 to below 1"]),
        ("confidence = 0.9\n", "", ["confidence", "[outcomes]"]),
        ("", "[outcomes]\n", ["one to 3 goals", "got 0"]),
        ("", "[outcomes]\ni = {at_most = 2}\n", ["one to 3 goals", "got 0"]),
        ("", "[outcomes]\ni = 3\n", ["outcome 'i'", "at_most"]),
        ("", "[outcomes]\ni = {goal = 'maximise'}\n", ["'i'", "did you mean 'maximize'?"]),
        ("", "[outcomes]\ni = {at_mots = 2}\n", ["'i'", "did you mean 'at_most'?"]),
        ("", "[outcomes]\ni = {at_most = nan}\n", ["'i'", "finite", "nan"]),
        ("", "[outcomes]\ni = {at_most = 2, at_least = 3}\n", ["'i'", "at_most and at_least"]),
        ("", "[outcomes]\ni = {at_most = 2, low = 3}\n", ["'i'", "never be held"]),
        ("outcomes = 3\n", "", ["outcomes", "a table"]),
        ("", FRONT + "[stop]\ncost = 1\n", ["stop.cost", "one goal"]),
    ],
)
def test_wrong_outcomes_in_a_file(
    tmp_path: Path, extra: str, outcomes: str, words: list[str]
) -> None:
    path = tmp_path / "lab.toml"
    path.write_text(f"{extra}{SPACE}{outcomes}", encoding="utf-8")
    with pytest.raises(InputError) as error:
        studyfile.load(path)
    for word in [*words, "lab.toml"]:
        assert word in str(error.value)
    for slip in ("..", "Maximize(", "Watch("):
        assert slip not in str(error.value)


def test_init_writes_outcomes(ceibo: Ceibo, tmp_path: Path) -> None:
    options = ["--outcome", "yield=maximize:unit=%:low=0", "--outcome", "impurity=at_most:2"]
    assert ceibo("init", "-p", "x=0:1", *options, "--confidence", "0.9").status == 0
    file = studyfile.load(tmp_path / "study.toml")
    assert file.outcomes == Outcomes({"yield": Maximize(unit="%", low=0), "impurity": AtMost(2)})
    assert file.settings.confidence == 0.9
    for wrong in (
        ["--outcome", "yield"],
        ["--outcome", "yield=best"],
        ["--outcome", "yield=at_most"],
        ["--outcome", "yield=at_most:x"],
        ["--outcome", "yield=maximize:unti=3"],
        [*options, "--outcome", "yield=watch"],
        [*options, "--maximize"],
        ["--confidence", "0.9"],
        ["--outcome", "impurity=at_most:2"],
    ):
        answer = ceibo("init", "--force", "-p", "x=0:1", *wrong)
        assert (answer.status, answer.out) == (2, "")
        assert answer.err.count("\n") == 1


def test_a_command_is_run(ceibo: Ceibo, tmp_path: Path) -> None:
    file = write(tmp_path)
    answer = ceibo("run", file)
    assert answer.status == 0
    assert "every limit holds with" in answer.out
    assert "impurity (at most 2 %)" in answer.out
    assert answer.err.count("yield ") == 5
    shown = ceibo("show", file, "--json").json
    assert [each["outcome"] for each in shown[0]["measurements"]] == ["yield", "impurity"]
    assert shown[0]["measurements"][1]["noise"] == 0.1
    assert shown[0]["state"] == "done"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("print('yield=3')", "no 'impurity'"),
        ("print('yield=3'); print('impurty=3')", "did you mean 'impurity'?"),
        ("print('yield=nan'); print('impurity=3')", "nan"),
        ("print(3)", "yield=1.5 and impurity=1.5"),
    ],
)
def test_a_command_that_does_not_tell_every_outcome_fails(
    ceibo: Ceibo, tmp_path: Path, code: str, reason: str
) -> None:
    file = write(tmp_path, code=code)
    assert ceibo("run", file).status == 1
    shown = ceibo("show", file, "0", "--json").json
    assert shown["state"] == "failed"
    assert reason in shown["reason"]


def test_outcomes_are_told_apart_and_corrected(lab: tuple[Ceibo, Path]) -> None:
    ceibo, file = lab
    assert "yield=VALUE impurity=VALUE" in ceibo("ask", "--new", file).err
    first = ceibo("tell", file, 9, "yield=81.2")
    assert "still to be told: impurity" in first.out
    assert ceibo("tell", file, 9, "impurity=1.7", "0.1", "colour=3").status == 0
    trial = ceibo("show", file, 9, "--json").json
    assert trial["state"] == "done"
    assert [each["value"] for each in trial["measurements"]] == [81.2, 1.7, 3]
    again = ceibo("tell", file, 9, "impurity=1.8")
    assert again.status == 2
    for word in ("impurity 1.7 ± 0.1", "Now came impurity 1.8", "--key run-2", "ceibo correct"):
        assert word in again.err
    assert ceibo("tell", file, 9, "impurity=1.8", "--key", "run-2").status == 0
    corrected = ceibo("correct", file, 9, "--outcome", "yield", "80.2")
    assert "yield 80.2, in place of yield 81.2" in corrected.out
    assert "by its key" in ceibo("correct", file, 9, "impurity=1").err
    assert ceibo("correct", file, 9, "yield=80.3", "colour=4").status == 0
    voided = ceibo("void", file, 9, "lamp was off", "--outcome", "yield")
    assert "80.3 does not count any more; the trial is running" in voided.out
    assert "voided 80.3: lamp was off" in ceibo("show", file, 9).out
    assert ceibo("show", file, 9, "--json").json["voided"][0]["outcome"] == "yield"
    assert ceibo("tell", file, 9, '{"yield": {"value": 79, "noise": 1}}').status == 0
    assert "yield 79 ± 1" in ceibo("show", file).out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["yeild=3"], "did you mean 'yield'?"),
        (["yield=3", "yield=4"], "twice"),
        (["3"], "yield=1.5"),
        (["yield=3,5"], "write 3.5"),
        (["yield=nan"], "--failed"),
        (["yield="], "no value"),
        (['{"yield": {}}'], "value"),
    ],
)
def test_a_wrong_result_stores_nothing(
    lab: tuple[Ceibo, Path], words: list[str], told: str
) -> None:
    ceibo, file = lab
    ceibo("ask", "--new", file)
    answer = ceibo("tell", file, 9, *words)
    assert (answer.status, answer.out) == (2, "")
    assert told in answer.err
    assert ceibo("show", file, 9, "--json").json["measurements"] == []


def test_a_doubtful_noise_is_of_its_outcome(lab: tuple[Ceibo, Path]) -> None:
    ceibo, file = lab
    ceibo("ask", "--new", file)
    answer = ceibo("tell", file, 9, "yield=81.2", "80.9", "impurity=1.2", "0.1")
    assert "yield: 80.9 was recorded as the noise" in answer.err
    assert answer.err.count("warning") == 1


def test_voiding_in_a_study_of_one_objective(ceibo: Ceibo, tmp_path: Path) -> None:
    file = write(tmp_path, outcomes="")
    ceibo("ask", "--new", file)
    ceibo("tell", file, 0, "3")
    assert "--outcome" in ceibo("correct", file, 0, "3", "--outcome", "yield").err
    assert ceibo("void", file, 0, "wrong sample").status == 0
    assert ceibo("show", file, 0, "--json").json["voided"][0]["reason"] == "wrong sample"
    assert "no value" in ceibo("void", file, 0, "again").err
    assert ceibo("void", file, 0, " ").status == 2
    assert ceibo("tell", file, 0, "4").status == 0


def test_the_best_setting_holds_its_limit(lab: tuple[Ceibo, Path]) -> None:
    ceibo, file = lab
    data = ceibo("best", file, "--json").json
    best = data["best"]
    assert best["params"]["x"] == 0.5
    assert best["p_feasible"] > 0.95
    assert best["outcomes"]["impurity"]["unit"] == "%"
    out = ceibo("best", file).out
    assert "every limit holds" in out
    assert "> 99 %" in out
    verdict = ceibo("should-stop", file, "--cost", "1e-9")
    assert verdict.status == 1
    assert "go on" in verdict.out
    assert ceibo("report", file, "-o", "page.html").status == 0
    assert 'id="in-spec"' in (file.parent / "page.html").read_text(encoding="utf-8")


def test_an_answer_that_does_not_hold_says_so(ceibo: Ceibo, tmp_path: Path) -> None:
    file = write(tmp_path, outcomes=LIMIT.replace("at_most = 2", "at_most = -5"))
    ceibo("import", file, table(file))
    out = ceibo("best", file).out
    said = out.index("no measured setting holds every limit with probability 0.95")
    assert said < out.index("every limit holds  ")  # before the table
    first = r"best +\S+ [-\d.]+ ± [\d.]+.*\(estimate; trial \d+ measured [-\d.]+.*; every limit"
    assert re.match(first, out)
    assert "< 1 %" in out


def test_several_goals_have_a_front(ceibo: Ceibo, tmp_path: Path) -> None:
    file = write(tmp_path, outcomes=FRONT)
    rows = "\n".join(f"{k / 8},0.5,{k},{k}" for k in range(9))
    file.with_name("f.csv").write_text(f"x,y,yield,cost\n{rows}\n1,1,0,9", encoding="utf-8")
    assert ceibo("import", file, "f.csv").status == 0
    out = ceibo("best", file).out
    assert "non-dominated" in out
    assert "± " in out
    data = ceibo("best", file, "--json").json
    numbers = [each["trial"] for each in data["front"]]
    assert 9 not in numbers
    assert set(numbers) <= set(range(9))
    assert data["raw_front"] == list(range(9))
    assert all(0 <= each["p_efficient"] <= 1 for each in data["front"])
    stop = ceibo("should-stop", file, "--cost", "1")
    assert stop.status == 2
    assert "one goal" in stop.err
    assert ceibo("best", file, "--json").status == 0


def test_predictions(lab: tuple[Ceibo, Path]) -> None:
    ceibo, file = lab
    one = ceibo("predict", file, "x=0.5", "y=0", "--json").json
    assert one["outcomes"]["yield"]["mean"] == pytest.approx(89.4, abs=1)
    out = ceibo("predict", file, "x=0.5", "y=0").out
    assert "at most 2 %" in out
    assert "every limit holds with > 99 %" in out
    rows = list(csv.reader(io.StringIO(ceibo("predict", file, "data.csv").out)))
    assert rows[0] == ["x", "y", "yield", "yield_std", "impurity", "impurity_std", "limits_hold"]
    assert len(rows) == 10
    assert float(rows[2][2]) == one["outcomes"]["yield"]["mean"]
    many = ceibo("predict", file, "data.csv", "--json").json
    assert many[1]["outcomes"] == one["outcomes"]
    assert ceibo("predict", file, "data.csv", "-o", "out.csv").status == 0
    for wrong, word in (
        (["x=0.5"], "lacks y"),
        (["x=0.5", "y=1", "y=1"], "twice"),
        (["x=0.5", "z=1"], "no parameter 'z'"),
        (["x=0.5", "y=2"], "y"),
        (["x=0,5", "y=1"], "point"),
        (["nothing.csv"], "nothing.csv"),
        (["data.csv", "-o", "lab.db"], "lost"),
    ):
        answer = ceibo("predict", file, *wrong)
        assert (answer.status, answer.out) == (2, "")
        assert word in answer.err


def test_predictions_of_one_objective(ceibo: Ceibo, tmp_path: Path) -> None:
    file = write(tmp_path, outcomes="")
    (tmp_path / "d.csv").write_text("x,y,value\n0,0,1\n1,1,2\n0,1,3", encoding="utf-8")
    ceibo("import", file, "d.csv")
    assert " ± " in ceibo("predict", file, "x=0", "y=0").out
    found = ceibo("predict", file, "x=0", "y=0", "--json").json
    assert "outcomes" not in found
    assert ceibo("predict", file, "d.csv").out.splitlines()[0] == "x,y,mean,std"


def _export(answer: Answer) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(answer.out)))


def test_an_export_is_imported_as_it_was(lab: tuple[Ceibo, Path]) -> None:
    ceibo, file = lab
    ceibo("ask", "--new", file, "-n", "3")
    ceibo("tell", file, 9, "yield=80", "81", "82", "impurity=1")
    ceibo("tell", file, 9, "yield=83 1", "--key", "b")
    ceibo("tell", file, 10, "yield=70")
    ceibo("tell", file, 11, "--failed", "=leak")
    ceibo("export", file, "-o", "all.csv")
    before = _export(ceibo("export", file))
    assert before[9]["yield_replicates"] == "80.0 81.0 82.0"
    assert (before[10]["trial"], before[10]["yield"], before[10]["impurity"]) == ("9", "83.0", "")
    assert before[11]["state"] == "running"
    assert ceibo("import", file, "all.csv", "--dry-run").status == 2
    assert "added 0 measurements" in ceibo("import", file, "all.csv", "--new").out
    other = file.with_name("other.toml")
    other.write_text(file.read_text(encoding="utf-8").replace('"lab"', '"other"'), encoding="utf-8")
    added = ceibo("import", other, "all.csv")
    assert "and 1 failed trial" in added.out
    after = _export(ceibo("export", other))
    drop = {"trial", "state"}
    assert [{k: v for k, v in row.items() if k not in drop} for row in after] == [
        {k: v for k, v in row.items() if k not in drop} for row in before
    ]
    data = json.loads(ceibo("export", file, "--format", "json").out)
    assert data["outcomes"]["impurity"] == {"at_most": 2.0, "unit": "%"}
    assert "direction" not in data


def test_what_an_import_refuses_and_notes(ceibo: Ceibo, tmp_path: Path) -> None:
    file = write(tmp_path)
    (tmp_path / "some.csv").write_text("x,y,Yield\n0.1,0.2,3", encoding="utf-8")
    noted = ceibo("import", file, "some.csv")
    assert noted.status == 0
    assert "no column of impurity, colour" in noted.err
    for text, word in (
        ("x,y\n0,0", "no column 'yield'"),
        ("x,y,yield,impurity\n0,0,a,1", "'yield'"),
        ("x,y,yield,impurity\n0,0,1,nan", "'impurity'"),
    ):
        (tmp_path / "wrong.csv").write_text(text, encoding="utf-8")
        answer = ceibo("import", file, "wrong.csv")
        assert (answer.status, answer.out) == (2, "")
        assert word in answer.err
    assert "NAME_noise" in ceibo("import", file, "some.csv", "--value", "Yield").err


def test_columns_of_one_name_are_told_apart(ceibo: Ceibo, tmp_path: Path) -> None:
    file = tmp_path / "odd.toml"
    file.write_text(
        'name = "odd"\n[space]\na = {type = "float", low = 0, high = 1}\n'
        "[outcomes]\na = {goal = 'minimize'}\na_noise = {watch = true}\n"
        "trial = {watch = true}\na_replicates = {watch = true}\n",
        encoding="utf-8",
    )
    ceibo("ask", "--new", file)
    ceibo("tell", file, 0, "a=1", "0.5", "a_noise=2", "trial=3", "a_replicates=4")
    rows = _export(ceibo("export", file, "-o", "odd.csv")) or _export(ceibo("export", file))
    assert len(rows[0]) == 2 + 4 * 3 + 1 + 1
    other = tmp_path / "even.toml"
    other.write_text(file.read_text("utf-8").replace('"odd"', '"even"'), encoding="utf-8")
    assert ceibo("import", other, "odd.csv").status == 0
    told = ceibo("show", other, 0, "--json").json["measurements"]
    assert {each["outcome"]: each["value"] for each in told} == {
        "a": 1,
        "a_noise": 2,
        "trial": 3,
        "a_replicates": 4,
    }


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("at_most = 2", "at_most = 3", "'impurity' is {at_most = 3"),
        ("colour = {watch = true}", "", "'colour' is not there"),
        (LIMIT, "", "what is measured"),
        ('name = "lab"', 'name = "lab"\nconfidence = 0.8', "confidence is 0.8"),
    ],
)
def test_a_file_that_has_changed_is_refused(
    lab: tuple[Ceibo, Path], old: str, new: str, word: str
) -> None:
    ceibo, file = lab
    file.write_text(file.read_text("utf-8").replace(old, new), encoding="utf-8")
    answer = ceibo("best", file)
    assert (answer.status, answer.out) == (2, "")
    assert word in answer.err


def test_a_result_that_was_not_stored_is_told_how(
    lab: tuple[Ceibo, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    ceibo, file = lab
    ceibo("ask", "--new", file)

    def lost(_self: Study, trial: int, value: object, **_: object) -> None:
        raise NotStoredError("lost", trial, value, "") from StorageError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(Study, "tell", lost)
        answer = ceibo("tell", file, 9, "yield=81.2", "impurity=1.5 ± 0.1")
    assert "yield 81.2, impurity 1.5 ± 0.1" in answer.err
    again = answer.err.partition(f"ceibo tell {file} 9 ")[2].strip().strip("'")
    assert ceibo("tell", file, 9, again).status == 0


def test_a_value_that_is_not_possible_is_recorded_with_a_warning(
    ceibo: Ceibo, tmp_path: Path
) -> None:
    (tmp_path / "s.toml").write_text(SPACE + LIMIT, encoding="utf-8")
    ceibo("ask", "s.toml", "--new", "-n", "2")
    told = ceibo("tell", "s.toml", "0", "yield=812", "impurity=-3")
    assert told.out == "trial 0: yield 812, impurity -3\n"
    assert told.err.count("warning") == 1  # of the impurity nothing is known
    assert "yield 812 % is above 100, the highest that is possible" in told.err
    assert "warning" not in ceibo("correct", "s.toml", "0", "yield=81.2").err
    assert "below 0, the lowest" in ceibo("tell", "s.toml", "1", "yield=-81.2").err


def test_init_says_how_outcomes_are_told(ceibo: Ceibo) -> None:
    wrote = ceibo("init", "-p", "x=0:1", "--outcome", "my yield=maximize", "--outcome", "c=watch")
    assert "ceibo tell study.toml 0 'my yield=VALUE'\n" in wrote.out
    assert "study.toml 0 'my yield=VALUE'      and" in Path("study.toml").read_text("utf-8")
