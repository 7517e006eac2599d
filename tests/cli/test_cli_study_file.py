"""Study files: what is read, what is refused and in which words, and what `ceibo init` writes."""

import re
import tomllib
from pathlib import Path

import pytest

from ceibo import Study
from ceibo.cli import studyfile
from ceibo.decide import DEFAULT_ACQUISITION, Categorical, Float, Int
from ceibo.errors import InputError
from tests.cli.cli_tools import Ceibo

GOOD = 'name = "a"\n[space]\nx = {type = "float", low = 0, high = 1}\n'


def load(tmp_path: Path, text: str) -> studyfile.StudyFile:
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    return studyfile.load(path)


def test_a_full_file_is_read(tmp_path: Path) -> None:
    file = load(
        tmp_path,
        """
name = "catalyst"
direction = "maximize"
storage = "sqlite:///lab/catalyst.db"
seed = 7
acquisition = "knowledge-gradient"
initial = 5
[space]
temp = {type = "float", low = 20, high = 90}
rate = {type = "float", low = 1e-5, high = 1e-1, log = true}
layers = {type = "int", low = 1, high = 8}
solvent = {type = "categorical", choices = ["water", "ethanol"]}
[command]
argv = ["python", "train.py", "--temp={temp}", "{solvent}"]
timeout = 600
[run]
jobs = 3
lease = 20
[stop]
trials = 60
cost = 0.001
time = 3600
failures = 5
""",
    )
    assert file.name == "catalyst"
    assert file.storage == f"sqlite:///{tmp_path}/lab/catalyst.db"
    assert file.settings.acquisition == "knowledge-gradient"
    assert file.settings.n_initial == 5
    assert (file.limits.n_trials, file.limits.cost, file.limits.timeout) == (60, 0.001, 3600)
    assert (file.limits.max_failures, file.limits.lease, file.jobs) == (5, 20, 3)
    assert file.template is not None
    params = {"temp": 21.5, "rate": 0.1, "layers": 2, "solvent": "water"}
    assert file.template.arguments(params) == ["python", "train.py", "--temp=21.5", "water"]
    assert file.template.environment(params)["CEIBO_layers"] == "2"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name = 3 4", ["not valid TOML", "line 1"]),
        (GOOD + "[comand]\nargv = ['x']", ["unknown key 'comand'", "did you mean 'command'?"]),
        (GOOD + "[stop]\ntrails = 3", ["unknown key 'trails' in [stop]", "did you mean 'trials'?"]),
        ("sedd = 1\n" + GOOD, ["did you mean 'seed'?"]),
        ('name = "a"', ["no [space]"]),
        ("[space]", ["at least one parameter"]),
        ("[space]\nx = {type = 'float', low = 1, high = 0}", ["'x'", "low < high", "swap"]),
        ("[space]\nx = {type = 'flot', low = 1, high = 0}", ["'x'", "type"]),
        ("[space]\nx = {type = 'float', low = 0, high = 1, lag = true}", ["'x'", "'lag'", "log"]),
        ("[space]\nx = 3", ["'x'", "expected a table"]),
        ('direction = "maximise"\n' + GOOD, ["did you mean 'maximize'?"]),
        (
            "[space]\nx = {type = 'float', low = 0, hihg = 1}",
            ["'x'", "'hihg'", "did you mean 'high'?"],
        ),
        ("[space]\nx = {type = 'flaot', low = 0, high = 1}", ["'x'", "did you mean 'float'?"]),
        (
            "[space]\nx = {type = 'float', low = 0, high = 1, log = true}",
            ["'x'", "log = true", "low > 0"],
        ),
        (
            "[space]\nx = {type = 'float', low = 1, high = 2, log = true, step = 1}",
            ["'x'", "an int with log = true"],
        ),
        ('storage = "sqlite:///what?.db"\n' + GOOD, ["what%3F.db"]),
        ('acquisition = "best"\n' + GOOD, ["acquisition must be one of"]),
        ("seed = -1\n" + GOOD, ["seed", "-1"]),
        ("outliers = 0\n" + GOOD, ["outliers", "true or false", "0"]),
        ('storage = "sqlite://"\n' + GOOD, ["memory"]),
        (GOOD + "[stop]\ntrials = 0", ["stop.trials", "above zero"]),
        (GOOD + "[stop]\ncost = nan", ["stop.cost", "nan"]),
        (GOOD + '[command]\nargv = "python x"', ["command.argv", "a list of strings"]),
        (GOOD + "[command]\nargv = []", ["command.argv"]),
        (GOOD + '[command]\nargv = ["a", "{X}"]', ["{X}", "Did you mean {x}?"]),
        (GOOD + '[command]\nargv = ["a", "{x"]', ["placeholder"]),
        (GOOD + '[command]\nargv = ["a"]\ntimeout = -1', ["command.timeout"]),
        (
            '[space]\n"a=b" = {type = "float", low = 0, high = 1}\n[command]\nargv = ["a"]',
            ["'a=b'", "another name"],
        ),
        (
            (
                '[space]\nx = {type = "categorical", choices = ["\\u0000", "b"]}\n[command]\nargv ='
                ' ["a"]'
            ),
            ["NUL"],
        ),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, words: list[str]) -> None:
    with pytest.raises(InputError) as error:
        load(tmp_path, text)
    assert "study.toml" in str(error.value)
    for word in words:
        assert word in str(error.value)
    for slip in ("'?.", "..", "log=", "Float", "Int("):
        assert slip not in str(error.value)


def test_a_name_is_kept_whole_in_the_name_of_the_database(ceibo: Ceibo, tmp_path: Path) -> None:
    folder = tmp_path / "50%25 of?it"
    folder.mkdir()
    for name, database in (
        ("what?", "what?.db"),
        ("50%25", "50%25.db"),
        ("a/b\\c", "a-b-c.db"),
        ("x", "x.db"),
    ):
        file = folder / "s.toml"
        made = ceibo("init", "-o", file, "--name", name, "-p", "x=0:1", "--force")
        assert (made.status, made.err) == (0, "")
        assert ceibo("ask", "--new", file, "--json").json["trial"] == 0
        assert (folder / database).is_file()
    (folder / "who?.toml").write_text(GOOD.replace('name = "a"', ""))
    assert ceibo("ask", "--new", folder / "who?.toml").status == 0
    assert (folder / "who?.db").is_file()


def test_init_writes_what_load_reads(ceibo: Ceibo, tmp_path: Path) -> None:
    assert ceibo("init").status == 0
    file = studyfile.load(tmp_path / "study.toml")
    assert list(file.space.names) == ["temp", "rate", "layers", "solvent"]
    assert file.direction == "minimize"
    assert ceibo("init", "--maximize", "-o", "yield.toml").status == 0
    assert studyfile.load(tmp_path / "yield.toml").direction == "maximize"
    again = ceibo("init")
    assert again.status == 2
    assert "--force" in again.err
    hostile = ["a b=0:1", "é=1:8:int", "q=x,y z", 'n"=1e-5:1e-1:log', "back\\slash=0.1:0.25"]
    options = [part for each in hostile for part in ("-p", each)]
    made = ceibo(
        "init",
        "-o",
        "other.toml",
        "--name",
        'quo"te\\',
        *options,
        "--",
        "./m.sh",
        "{a b}",
        "{q}",
        "lit{{}}",
    )
    assert (made.status, made.err) == (0, "")
    file = studyfile.load(tmp_path / "other.toml")
    assert file.space.dimensions["é"] == Int(1, 8)
    assert file.space.dimensions['n"'] == Float(1e-5, 1e-1, log=True)
    assert file.space.dimensions["back\\slash"] == Float(0.1, 0.25)
    assert file.template is not None
    assert file.template.argv[-1] == "lit{{}}"
    assert tomllib.loads((tmp_path / "other.toml").read_text())["name"] == 'quo"te\\'
    for wrong in ("x", "x=", "=0:1", "x=0", "x=a:b", "x=0:1:lag"):
        assert ceibo("init", "-o", "third.toml", "-p", wrong).status == 2
    assert ceibo("init", "-o", "third.toml", "-p", "x=1:0").status == 2
    assert not (tmp_path / "third.toml").exists()


@pytest.mark.parametrize(
    ("given", "entry"),
    [
        ('s="1,4-dioxane",DMF', Categorical(["1,4-dioxane", "DMF"])),
        ('s=DMF, "N,N-dimethyl ""x""" ', Categorical(["DMF", 'N,N-dimethyl "x"'])),
        ('s="1:1","1:2"', Categorical(["1:1", "1:2"])),
        ("s=20:120:step=5", Float(20, 120, step=5)),
        ("s=0.1:10", Float(0.1, 10)),
        ("s=1:8:int:log", Int(1, 8, log=True)),
    ],
)
def test_init_reads_parameters(ceibo: Ceibo, tmp_path: Path, given: str, entry: object) -> None:
    made = ceibo("init", "-p", given)
    assert (made.status, made.err) == (0, "")
    assert studyfile.load(tmp_path / "study.toml").space.dimensions["s"] == entry
    assert "0.10000000000000001" not in (tmp_path / "study.toml").read_text()
    if isinstance(entry, Categorical):
        assert all(repr(choice) in made.out for choice in entry.choices)
    assert "double quotes" in ceibo("init", "--help").out


@pytest.mark.parametrize("given", ['s="1","4-dioxane"', "s=1,2,4", "s=1,DMF", "s=2-MeTHF,THF"])
def test_init_leaves_alone_what_can_be_meant(ceibo: Ceibo, given: str) -> None:
    assert ceibo("init", "-p", given).status == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("40:130:step=7", "of 7 from 40 the last is 124, so 130 will"),
        ("1:8:int:step=2", "of 2 from 1 the last is 7, so 8 will"),
        ("0:1:step=0.3", "of 0.3 from 0 the last is 0.9, so 1 will"),
        ("1000000:2000001:int:step=2", "from 1000000 the last is 2000000, so 2000001 will"),
        ("1e-9:1e-7:step=2e-9", "of 2e-9 from 1e-9 the last is 9.9e-8, so 1e-7 will"),
        ("1e300:3e300:step=7e299", "of 7e+299 from 1e+300 the last is 2.4e+300, so 3e+300 will"),
    ],
)
def test_steps_that_do_not_reach_the_end_are_remarked(ceibo: Ceibo, given: str, said: str) -> None:
    made = ceibo("init", "-p", f"x={given}")
    assert made.status == 0
    assert said in made.err
    assert ceibo("init", "--force", "-p", "x=0:1:step=0.1").err == ""


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["x=nan:2"], ["finite", "nan"]),
        (["x=0:inf"], ["finite", "inf"]),
        (["x=0:1:step=nan"], ["finite"]),
        (["x=0:1:step=2"], ["'x'", "step"]),
        (["x=1:8:int:step=2.5"], ["'x'", "step"]),
        (["x=low<<high"], ["empty level"]),
        (["x=0:1", "x=1:2"], ["'x'", "twice"]),
        (["x=a,,b"], ["empty category"]),
        (["s=THF,1,4-dioxane,DMF"], ["""'s=THF,"1,4-dioxane",DMF'""", '"1","4-dioxane"']),
        (["s=1,3,5-triazine,THF"], ["""'s="1,3,5-triazine",THF'"""]),
        (["s=DMF,N,N-dimethylaniline"], ["""'s=DMF,"N,N-dimethylaniline"'"""]),
        (["x=a,b,"], ["empty category"]),
        (["x="], ["expected x=0:1"]),
        (['x="a,b'], ["expected x=0:1", "double quotes"]),
        (["x=1_0:20"], ["expected x=0:1"]),
    ],
)
def test_init_writes_nothing_that_is_wrong(
    ceibo: Ceibo, tmp_path: Path, given: list[str], words: list[str]
) -> None:
    (tmp_path / "study.toml").write_text(GOOD)
    answer = ceibo("init", "--force", *(part for each in given for part in ("-p", each)))
    assert (answer.status, answer.out) == (2, "")
    for word in words:
        assert word in answer.err
    assert (tmp_path / "study.toml").read_text() == GOOD
    assert [each.name for each in tmp_path.iterdir()] == ["study.toml"]


def test_init_offers_options_that_are_valid_as_they_stand(ceibo: Ceibo, tmp_path: Path) -> None:
    assert ceibo("init").status == 0
    file = tmp_path / "study.toml"
    text = re.sub(r"(?m)^# (?=(acquisition|cost|time) = )", "", file.read_text())
    file.write_text(text)
    read = studyfile.load(file)
    assert (read.limits.cost, read.limits.timeout) == (0.001, 3600.0)
    assert read.settings.acquisition == DEFAULT_ACQUISITION


def test_a_study_file_says_that_every_value_is_believed(ceibo: Ceibo, tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text("outliers = false\n" + GOOD)
    assert ceibo("ask", file, "--new").status == 0
    assert Study.open(f"sqlite:///{tmp_path}/s.db", "a").settings.outliers is False
    file.write_text(GOOD)  # which says nothing of it
    assert ceibo("ask", file).status == 0
    file.write_text("outliers = true\n" + GOOD)
    answer = ceibo("ask", file)
    assert answer.status == 2
    assert "outliers is true, but study 'a' was begun with false" in answer.err
