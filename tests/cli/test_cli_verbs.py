"""The verbs, one after the other, as people and programs use them."""

import csv
import io
import json
import re
import sys
from pathlib import Path

import pytest

from ceibo import Float, Study
from ceibo.cli import studyfile
from tests.cli.cli_tools import Ceibo, StudyFile


def test_run_finds_the_minimum_and_goes_on(
    ceibo: Ceibo, study_file: StudyFile, tmp_path: Path
) -> None:
    file = study_file(trials=9)
    first = ceibo("run", file)
    assert first.status == 0
    assert "all 9 trials are done" in first.out
    assert first.err.count("\n") == 9  # one plain line per trial where there is no terminal
    assert not re.search(r"\x1b", first.out + first.err)
    study_file(trials=14)
    assert ceibo("run", file, "--quiet", "-j", "2").err == ""
    study = Study.open(f"sqlite:///{tmp_path}/demo.db", "demo")
    assert [trial.state for trial in study.trials] == ["done"] * 14
    assert study.verify().ok
    again = ceibo("run", file)
    assert (again.status, again.err) == (0, "")
    best = ceibo("best", file, "--json").json
    assert abs(best["best"]["params"]["x"] - 0.3) < 0.15
    assert best["best"]["trial"] == study.best.number
    assert set(best) == {"best", "recommended", "closeness", "best_observed"}
    out = ceibo("best", file).out
    assert "raw best" in out
    (value,) = study.trials[study.best.number or 0].measurements
    assert f"(estimate; trial {study.best.number} measured {value.value:.6g}, " in out
    shown = ceibo("show", file).out.splitlines()
    assert len(shown) == 14
    assert ceibo("show", file, "3", "--json").json["trial"] == 3
    assert "measured" in ceibo("show", file, "3").out
    assert ceibo("show", file, "99").status == 2


def test_dry_run_shows_the_very_commands_and_records_nothing(
    ceibo: Ceibo, study_file: StudyFile, tmp_path: Path
) -> None:
    file = study_file(trials=5)
    shown = ceibo("run", file, "--dry-run").out.splitlines()
    assert len(shown) == 4
    assert not list(tmp_path.glob("*.db"))
    assert ceibo("run", file, "--quiet").status == 0
    study = Study.open(f"sqlite:///{tmp_path}/demo.db", "demo")
    for trial, line in zip(study.trials, shown, strict=False):
        assert line.startswith(f"trial {trial.number}: ")
        assert line.endswith(f"{trial.params['x']!r} {trial.params['y']!r}")
    study_file(trials=6)
    following = ceibo("run", file, "--dry-run").out
    before = study.trials
    assert len(before) == 5
    ceibo("run", file, "--quiet")
    last = study.trials[-1]
    assert last.number == 5
    assert following.strip().endswith(f"{last.params['x']!r} {last.params['y']!r}")


def test_ask_and_tell(ceibo: Ceibo, study_file: StudyFile) -> None:
    file = study_file()
    handed = ceibo("ask", "--new", file, "--json").json
    assert handed["trial"] == 0
    assert set(handed["params"]) == {"x", "y"}
    assert len(ceibo("ask", "--new", file, "-n", "2", "--json").json) == 2
    assert "x = " in ceibo("ask", "--new", file).out
    assert ceibo("tell", file, "0", "-0.5").status == 0
    assert ceibo("tell", file, "0", "-0.5").status == 0  # the same again changes nothing
    other = ceibo("tell", file, "0", "0.7")
    assert other.status == 2
    assert "key" in other.err
    assert (
        len(ceibo("tell", file, "0", "-0.4", "0.1", "--key", "two", "--json").json["measurements"])
        == 2
    )
    assert ceibo("tell", file, "1", "1", "2", "3", "--json").json["measurements"][0][
        "replicates"
    ] == [1, 2, 3]
    assert ceibo("tell", file, "2", '{"value": 3, "noise": 1}').status == 0
    assert (
        ceibo("tell", file, "3", "--failed", "reactor leaked", "--json").json["reason"]
        == "reactor leaked"
    )
    assert ceibo("ask", "--new", file, "--json").json["trial"] == 4
    assert ceibo("tell", file, "4", "--release").status == 0
    assert ceibo("ask", "--new", file, "--json").json["trial"] == 4  # handed out again
    for wrong in (
        ["9", "1"],
        ["4"],
        ["4", "much"],
        ["4", "nan"],
        ["4", "1", "--release"],
        ["4", "1", "-2"],
    ):
        answer = ceibo("tell", file, *wrong)
        assert (answer.status, answer.out) == (2, "")
        assert answer.err.startswith("ceibo: ")


def test_should_stop_is_an_exit_status(ceibo: Ceibo, study_file: StudyFile) -> None:
    file = study_file(trials=12)
    ceibo("ask", "--new", file)
    assert ceibo("should-stop", file, "--cost", "0.1").status == 1
    ceibo("tell", file, "0", "--release")
    ceibo("run", file, "-q")
    stop = ceibo("should-stop", file, "--cost", "1e3", "--json")
    assert stop.status == 0
    assert stop.json["stop"] is True
    assert ceibo("should-stop", file, "--cost", "1e-12").status == 1
    assert ceibo("should-stop", file).status == 2  # the file has no cost
    assert ceibo("should-stop", file, "--cost", "-1").status == 2
    assert "[ $? -eq 1 ]" in ceibo("should-stop", "--help").out  # a loop that ends at an error, too


def test_export_and_import_round_trip(ceibo: Ceibo, study_file: StudyFile, tmp_path: Path) -> None:
    file = study_file()
    ceibo("ask", "--new", file, "-n", "4")
    ceibo("tell", file, "0", "0.1", "0.01")
    ceibo("tell", file, "1", "1", "2", "4")
    ceibo("tell", file, "2", "--failed", 'no,"quote"\nline')
    text = ceibo("export", file).out
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["state"] for row in rows] == ["done", "done", "failed", "running"]
    assert ceibo("export", file, "-o", "data.csv").status == 0
    assert json.loads(ceibo("export", file, "--format", "json").out)["space"]["x"]["high"] == 1
    ceibo("export", file, "-o", "data.json")
    assert len(json.loads((tmp_path / "data.json").read_text())["trials"]) == 4
    assert ceibo("export", file, "--format", "xml").status == 2
    copy = tmp_path / "copy.toml"
    copy.write_text(file.read_text().replace("demo", "copy"))
    assert "would add 2" in ceibo("import", copy, "data.csv", "--dry-run").out
    assert not (tmp_path / "copy.db").exists()
    added = ceibo("import", copy, "data.csv")
    assert (
        added.out
        == "added 2 measurements and 1 failed trial to study 'copy'; left out: 1 row without a"
        " value\n"
    )
    one, two = (
        Study.open(f"sqlite:///{tmp_path}/{name}.db", name).trials for name in ("demo", "copy")
    )
    assert [(t.params, t.state, t.measurements, t.reason) for t in two] == [
        (t.params, t.state, t.measurements, t.reason) for t in one[:3]
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x,value\n1,2\n", ["no column 'y'"]),
        ("x,y,result\n", ["no column 'value'"]),
        ("x,y,value\n0.1,0.2,1\n0.1,much,1\n", ["line 3", "'y'", "much"]),
        ("x,y,value\n0.1,0.2,nan\n", ["line 2", "nan"]),
        ("x,y,value,noise\n0.1,0.2,1,-1\n", ["line 2", "noise"]),
        ("", ["no column"]),
    ],
)
def test_import_takes_all_rows_or_none(
    ceibo: Ceibo, study_file: StudyFile, tmp_path: Path, text: str, words: list[str]
) -> None:
    file = study_file()
    (tmp_path / "data.csv").write_text(text)
    answer = ceibo("import", file, "data.csv")
    assert answer.status == 2
    for word in words:
        assert word in answer.err
    assert not (tmp_path / "demo.db").exists()


def test_import_with_other_columns_and_choices(ceibo: Ceibo, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        '[space]\nn = {type = "int", low = 1, high = 8}\nflag = {type = "categorical", choices ='
        ' [true, "true ", 1]}\n'
    )
    (tmp_path / "data.csv").write_text(
        "n,flag,yield,sd\n3,true,0.5,\n4,true ,0.6,0.1\n5,1,0.7,0.1\n"
    )
    assert (
        ceibo("import", "study.toml", "data.csv", "--value", "yield", "--noise", "sd").status == 0
    )
    trials = Study.open(f"sqlite:///{tmp_path}/study.db", "study").trials
    assert [trial.params["flag"] for trial in trials] == [True, "true ", 1]
    assert [trial.measurements[0].noise for trial in trials] == [None, 0.1, 0.1]


@pytest.mark.needs("psycopg")
def test_bad_input_is_one_message_and_status_2(
    ceibo: Ceibo, study_file: StudyFile, tmp_path: Path
) -> None:
    file = study_file()
    assert ceibo("run", file, "-q").status == 0
    changed = file.read_text().replace("high = 1}", "high = 2}", 1)
    (tmp_path / "changed.toml").write_text(changed)
    (tmp_path / "reseeded.toml").write_text("seed = 5\n" + file.read_text())
    (tmp_path / "missing.toml").write_text(
        file.read_text().replace(json.dumps(sys.executable), '"no-such-program"')
    )
    (tmp_path / "missing2.toml").write_text(
        file.read_text().replace(json.dumps(sys.executable), '"./no-such-file"')
    )
    (tmp_path / "nocommand.toml").write_text('[space]\nx = {type = "float", low = 0, high = 1}\n')
    (tmp_path / "broken.db").write_bytes(
        b"this is not a database, but it is long enough to look at" * 20
    )
    unreachable = "postgresql://nobody@127.0.0.1:1/none?connect_timeout=1"
    cases = {
        ("run", "absent.toml"): "ceibo init",
        ("best", "nocommand.toml"): "begins it",
        ("run", "nocommand.toml"): "[command]",
        ("run", "changed.toml"): "has changed",
        ("run", "reseeded.toml"): "seed",
        ("run", "missing.toml"): "not in PATH",
        ("run", "missing2.toml"): "does not exist",
        ("run", file, "--storage", "sqlite:///broken.db"): "not an SQLite database",
        ("run", file, "--storage", "sqlite:////no/such/folder/a.db"): "folder",
        ("run", file, "--storage", "mysql://x"): "sqlite:///file.db",
        ("best", file, "--storage", unreachable): "cannot reach",
        ("import", file, "absent.csv"): "cannot read",
        ("report", file, "-o", "nodir/r.html"): "the folder nodir does not exist",
        ("export", file, "-o", "nodir/t.csv"): "the folder nodir does not exist",
        ("init", "-o", "nodir/s.toml"): "the folder nodir does not exist",
        ("export", file, "-o", "o.xlsx"): ".csv",
        ("export", file, "-o", "o.xlsx", "--format", "csv"): ".csv",
        ("export", file, "-o", "o.html"): "--format",
    }
    for arguments, word in cases.items():
        answer = ceibo(*arguments)
        assert answer.status == 2, arguments
        assert answer.out == "", arguments
        assert word in answer.err, (arguments, answer.err)
        assert "Traceback" not in answer.err
        assert len(answer.err.strip().splitlines()) == 1, (arguments, answer.err)
    debugged = ceibo("run", "absent.toml", "--debug")
    assert debugged.status == 2
    assert "Traceback" in debugged.err


def test_usage_errors_have_status_2(ceibo: Ceibo) -> None:
    for arguments in (["runn"], ["run"], ["ask", "--count", "x"], ["--what"]):
        answer = ceibo(*arguments)
        assert answer.status == 2
        assert "Traceback" not in answer.err
    assert "0." in ceibo("--version").out
    listed = ceibo("--help").out
    for verb in [
        "init",
        "run",
        "ask",
        "tell",
        "correct",
        "best",
        "show",
        "should-stop",
        "report",
        "export",
        "import",
    ]:
        assert verb in listed
        assert ceibo(verb, "--help").status == 0


def test_failures_are_kept_and_limited(ceibo: Ceibo, study_file: StudyFile) -> None:
    code = (
        "import sys; print('about to fail'); print('boom \\x1b[31m', file=sys.stderr); sys.exit(3)"
    )
    file = study_file(code=code, trials=30)
    answer = ceibo("run", file)
    assert answer.status == 1
    assert "exit status 3" in answer.err
    shown = ceibo("show", file, "--json").json
    assert [trial["state"] for trial in shown] == ["failed"] * 3
    assert "boom" in shown[0]["reason"]
    assert "about to fail" in shown[0]["reason"]
    assert "Traceback" not in shown[0]["reason"]
    assert "\x1b" not in ceibo("show", file, "0").out


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("print('nothing to see')", "no result"),
        ("pass", "printed no result"),
        ("print('nan')", "not finite"),
        ("import os; os.kill(os.getpid(), 9)", "signal 9"),
        ("print(0.1, -1)", "noise"),
    ],
)
def test_what_is_no_result_is_a_failed_trial(
    ceibo: Ceibo, study_file: StudyFile, code: str, word: str
) -> None:
    file = study_file(code=code, trials=2, extra="failures = 5\n")
    assert ceibo("run", file).status == 0
    shown = ceibo("show", file, "--json").json
    assert [trial["state"] for trial in shown] == ["failed"] * 2
    assert word in shown[0]["reason"]
    assert ceibo("best", file).status == 2


def test_best_is_shown_with_the_digits_that_count(asked: tuple[Ceibo, Path]) -> None:
    ceibo, file = asked
    for number, value in enumerate((71.561234, 60.123, 65.987)):
        ceibo("tell", file, number, value, "4")
    answer = ceibo("best", file).out.splitlines()
    for line in answer[:2]:
        mean, _, std = line.split()[1:4]
        assert len(mean.partition(".")[2]) == len(std.partition(".")[2]) <= 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "FILE", "--dry-run"],
        ["run", "FILE", "-q"],
        ["ask", "FILE"],
        ["tell", "FILE", "0", "1.5"],
        ["correct", "FILE", "0", "2.5"],
        ["best", "FILE"],
        ["show", "FILE"],
        ["should-stop", "FILE", "--cost", "1"],
        ["report", "FILE", "-o", "page.html"],
        ["export", "FILE", "-o", "trials.csv"],
        ["import", "FILE", "DATA", "--again"],
        ["import", "FILE", "DATA", "--again", "--dry-run"],
    ],
    ids=" ".join,
)
def test_the_study_file_is_read_once(
    ceibo: Ceibo,
    study_file: StudyFile,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
) -> None:
    file = study_file(trials=1)
    (tmp_path / "data.csv").write_text("x,y,value\n0.1,0.2,3\n0.2,0.3,4\n")
    ceibo("ask", "--new", file)
    if arguments[0] not in ("tell", "run"):
        ceibo("tell", file, "0", "0.5")
    read = []
    parse = studyfile.parse

    def count(content: bytes, path: Path) -> studyfile.StudyFile:
        read.append(path)
        return parse(content, path)

    monkeypatch.setattr(studyfile, "parse", count)
    words = {"FILE": str(file), "DATA": str(tmp_path / "data.csv")}
    answer = ceibo(*(words.get(each, each) for each in arguments))
    assert answer.status in (0, 1), answer.err
    assert read == [file]


def test_a_study_that_has_not_begun_says_how_to_begin(
    ceibo: Ceibo, study_file: StudyFile, tmp_path: Path
) -> None:
    file = study_file()
    alone = ceibo("best", file)
    Study.create({"x": Float(0, 1)}, storage=f"sqlite:///{tmp_path}/demo.db", name="other")
    beside_another = ceibo("best", file)
    for answer in (alone, beside_another):
        assert answer.status == 2
        sheet = f"`ceibo sheet {file} plan.xlsx -n 8 --new`"
        ways = f"`ceibo run {file}`, `ceibo ask {file} --new` or {sheet} begins it.\n"
        assert answer.err.endswith(ways)
    assert "has not begun: there is no file" in alone.err
    ceibo("init", "-o", "lab.toml", "-p", "x=0:1")
    by_hand = ceibo("best", "lab.toml").err
    sheet = "`ceibo sheet lab.toml plan.xlsx -n 8 --new` or `ceibo ask lab.toml --new`"
    assert by_hand.endswith(f". {sheet} begins it.\n")
    assert "none" not in by_hand


def test_what_was_mistyped_is_named(ceibo: Ceibo, study_file: StudyFile, tmp_path: Path) -> None:
    file = study_file()
    ceibo("ask", "--new", file)
    (tmp_path / "week.csv").write_text("trial,x,y,value\n")
    (tmp_path / "svc.jsonl").write_text('{"x": 1}\n')
    for words, sentence in (
        (("best", "studdy.toml"), "there is no study file studdy.toml; did you mean 'study.toml'?"),
        (("sheet", file, "weeek.csv", "--read"), "No such file or directory; did you mean 'week.c"),
        (
            ("best", "svc.jsonl"),
            "expected a study file, which `ceibo init` writes (.toml), or a da",
        ),
        (("should-stop", file, "--cost", "0,5"), "got '0,5'; numbers have a decimal point: 0.5."),
        (("should-stop", file, "--cost", "x"), "expected a number, got 'x'."),
        (("should-stop", file, "--cost", "1" + "0" * 350), "cost must be"),
        (("init", "-o", "n.toml", "-p", "pd=0,5:5"), "numbers have a decimal point: pd=0.5:5"),
        (("export", file, "-o", "x.xlsx"), "`ceibo sheet` writes what to measure next as .xlsx"),
    ):
        answer = ceibo(*words)
        assert (answer.status, answer.out) == (2, "")
        assert sentence in answer.err


def test_a_value_that_will_never_come(ceibo: Ceibo, study_file: StudyFile) -> None:
    file = study_file(extra='[outcomes]\nyield = {goal = "maximize"}\ndimer = {at_most = 2}\n')
    ceibo("ask", "--new", file, "-n", 2)
    for number in range(2):
        ceibo("tell", file, number, "yield=80", "dimer=1")
        void = ceibo("void", file, number, "bad column", "--outcome", "dimer")
        assert "does not count any more; the trial is running and lacks a value\n" in void.out
        assert void.err.startswith("if that value will never come: `ceibo tell ")
        failed, withdrawn = (part.split()[1:] for part in void.err.split("`")[1::2])
        assert ceibo(*(withdrawn if number else failed)).status == 0
    states = [each["state"] for each in ceibo("show", file, "--json").json]
    assert states == ["failed", "withdrawn"]
