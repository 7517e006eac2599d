"""A last look and repeats in the shell: `ceibo confirm`, `run --confirm`, [stop], [precision]."""

from pathlib import Path

import pytest

from ceibo import Study
from tests.cli.cli_tools import Ceibo

FILE = """
name = "lab"
storage = "sqlite:///lab.db"
[space]
x = {type = "float", low = 0, high = 1}
"""
COMMAND = """
[command]
argv = ["sh", "-c", "echo {x} | cut -c3-4; env | grep CEIBO_REPEATS >> seen.txt || true"]
"""


def write(folder: Path, *parts: str) -> Path:
    path = folder / "study.toml"
    path.write_text("".join([FILE, *parts]))
    return path


def tell_all(ceibo: Ceibo, file: Path, count: int) -> None:
    for trial in ceibo("ask", "--new", file, "-n", count, "--json").json:
        told = ceibo("tell", file, trial["trial"], trial["params"]["x"])
        assert told.status == 0, told.err


def test_confirm_prints_as_ask_does(ceibo: Ceibo, tmp_path: Path) -> None:
    file = write(tmp_path)
    assert "begins it" in ceibo("confirm", file).err
    ceibo("ask", "--new", file)
    assert "no answer to confirm" in ceibo("confirm", file).err
    ceibo("tell", file, 0, 0.4)
    tell_all(ceibo, file, 5)
    answer = ceibo("confirm", file, "-n", 2)
    assert answer.status == 0, answer.err
    assert answer.out.startswith("trial 6\n  x = ")
    assert "for each TRIAL of 6 to 7: ceibo tell" in answer.err
    one = ceibo("confirm", file, "--fixed", "x=0.25", "--json").json
    assert one == {"trial": 8, "params": {"x": 0.25}}
    study = Study.open("sqlite:///lab.db", "lab")
    assert [trial.purpose for trial in study.trials] == [None] * 6 + ["confirm"] * 3
    assert study.verify().ok


def test_best_says_how_close_it_is(ceibo: Ceibo, tmp_path: Path) -> None:
    file = write(tmp_path)
    tell_all(ceibo, file, 6)
    (line,) = [each for each in ceibo("best", file).out.splitlines() if "closeness" in each]
    found = ceibo("best", file, "--json").json["closeness"]
    assert found["probability"] == 0.9
    assert f"within {found['within']:.2g} of the best with 90 % probability" in line


def test_a_run_ends_with_a_last_look(ceibo: Ceibo, tmp_path: Path) -> None:
    file = write(tmp_path, COMMAND, "[stop]\ntrials = 8\nconfirm = 0.25\n")
    answer = ceibo("run", file, "--quiet")
    assert answer.status == 0, answer.err
    assert "all 8 trials are done; the best setting measured is" in answer.out
    study = Study.open("sqlite:///lab.db", "lab")
    assert [trial.purpose for trial in study.trials] == [None] * 6 + ["confirm"] * 2
    assert not (tmp_path / "seen.txt").read_text()
    more = ceibo("run", file, "--quiet", "--trials", "12", "--confirm", "1")
    assert more.status == 0, more.err
    expected = [None] * 6 + ["confirm"] * 2 + [None] * 3 + ["confirm"]
    assert [trial.purpose for trial in study.trials] == expected


@pytest.mark.parametrize(
    ("stop", "options", "said"),
    [
        ("confirm = -1", (), "stop.confirm must be a share from 0 to below 1"),
        ("confirm = true", (), "stop.confirm must be"),
        ("trials = 5\nconfirm = 6", (), "stop.confirm: confirm=6 is more than all 5 trials"),
        ("time = 60\nconfirm = 0.2", (), "give trials, under [stop], too"),
        ("trials = 5", ("--confirm", "lots"), "--confirm must be a share"),
        (
            "trials = 9\nconfirm = 7",
            ("--trials", "6"),
            "--trials: confirm=7 is more than all 6 trials",
        ),
        ("trials = 5", ("--confirm", "7"), "--confirm: confirm=7 is more than all 5 trials"),
    ],
)
def test_wrong_shares(
    ceibo: Ceibo, tmp_path: Path, stop: str, options: tuple[str, ...], said: str
) -> None:
    file = write(tmp_path, COMMAND, f"[stop]\n{stop}\n")
    answer = ceibo("run", file, *options)
    assert answer.status == 2
    assert said in answer.err
    assert not (tmp_path / "lab.db").exists()


def test_several_goals_have_no_last_look(ceibo: Ceibo, tmp_path: Path) -> None:
    goals = '[outcomes]\na = {goal = "minimize"}\nb = {goal = "maximize"}\n'
    answer = ceibo("ask", "--new", write(tmp_path, goals, "[stop]\ntrials = 9\nconfirm = 2\n"))
    assert "stop.confirm: this study has 2 goals" in answer.err


def test_repeats_are_printed_and_given_to_commands(ceibo: Ceibo, tmp_path: Path) -> None:
    price = "[precision]\nsetup = 9.0\nrepeat = 0.1\nmost = 3\n"
    file = write(tmp_path, price, COMMAND, "[stop]\ntrials = 7\n")
    assert ceibo("run", file, "--quiet").status == 0
    study = Study.open("sqlite:///lab.db", "lab")
    seen = [int(line.partition("=")[2]) for line in (tmp_path / "seen.txt").read_text().split()]
    assert seen == [trial.repeats for trial in study.trials]
    assert max(seen) > 1
    answer = ceibo("ask", file)
    asked = study.trials[-1].repeats
    assert asked > 1
    assert f"  measure it {asked} times\n" in answer.out
    assert "VALUE VALUE … --replicates" in answer.err
    assert ceibo("ask", file, "--json").json["repeats"] >= 1
    assert ceibo("report", file, "-o", "page.html").status == 0
    page = (tmp_path / "page.html").read_text()
    assert "Times to measure" in page
    assert "9 for a trial and 0.1 for each of at most 3 values" in page
    file.write_text(file.read_text().replace("most = 3", "most = 4"))
    assert "precision is Precision(setup=9.0" in ceibo("ask", file).err


def test_a_wrong_price_names_its_file(ceibo: Ceibo, tmp_path: Path) -> None:
    file = write(tmp_path, "[precision]\nsetup = 1.0\n")
    answer = ceibo("ask", "--new", file)
    assert "study.toml: precision: expected setup, repeat" in answer.err
