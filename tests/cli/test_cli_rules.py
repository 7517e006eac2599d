"""Rules between parameters at the shell: study files, init, show, import."""

from pathlib import Path

import pytest

from ceibo.cli import studyfile
from ceibo.errors import InputError
from ceibo.study import Study
from tests.cli.cli_tools import Ceibo

SPACE = """
name = "lab"
storage = "sqlite:///lab.db"
[space]
a = {type = "float", low = 0, high = 1}
b = {type = "float", low = 0, high = 1}
solvent = {type = "categorical", choices = ["THF", "DMF"]}
"""
RULES = """
[constraints]
rules = ["a + b <= 1", "a <= 0.5 if solvent == 'THF'"]
"""


def write(text: str) -> str:
    Path("lab.toml").write_text(text, encoding="utf-8")
    return "lab.toml"


def test_rules_of_a_study_file() -> None:
    file = studyfile.parse((SPACE + RULES).encode(), Path("lab.toml"))
    assert file.space.constraints == ("a + b <= 1", "a <= 0.5 if solvent == 'THF'")
    for none in ("", "[constraints]", "[constraints]\nrules = []"):
        assert studyfile.parse((SPACE + none).encode(), Path("lab.toml")).space.rules == ()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('rules = "a <= 1"', "constraints.rules: expected a list of rules in quotes"),
        ("rules = [1]", "constraints.rules: expected a list of rules in quotes"),
        ("rule = []", "unknown key 'rule' in [constraints]; did you mean 'rules'?"),
        ('rules = ["a + x <= 1"]', "constraints.rules: rule 'a + x <= 1': expected a parameter"),
        ('rules = ["a = 1"]', "rule 'a = 1': expected == to compare, got '=' at character 3"),
        ('rules = ["a >= 2"]', "rule 'a >= 2' cannot hold for any setting"),
        ('rules = ["a >= 0.6", "a + b <= 0.5"]', "cannot hold together"),
        ('rules = [""]', "got an empty text"),
    ],
)
def test_errors_in_a_study_file_name_the_rule(table: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        studyfile.parse(f"{SPACE}[constraints]\n{table}".encode(), Path("lab.toml"))
    assert str(caught.value).startswith("lab.toml: ")
    assert said in str(caught.value)


def test_a_file_whose_rules_changed_is_refused(ceibo: Ceibo) -> None:
    file = write(SPACE + RULES)
    assert ceibo("ask", "--new", file).status == 0
    assert ceibo("show", file).status == 0
    write(SPACE)
    answer = ceibo("show", file)
    assert answer.status == 2
    assert "the rule 'a + b <= 1' is gone" in answer.err
    write(SPACE + RULES.replace('"a + b', '"b >= 0.1", "a + b'))
    assert "the rule 'b >= 0.1' is new" in ceibo("show", file).err


def test_show_lists_the_rules(ceibo: Ceibo) -> None:
    file = write(SPACE + RULES)
    ceibo("ask", "--new", file)
    lines = ceibo("show", file).out.splitlines()
    assert lines[:2] == ["rule: a + b <= 1", "rule: a <= 0.5 if solvent == 'THF'"]
    assert lines[2].split()[:2] == ["0", "running"]
    assert len(ceibo("show", file, "--json").json) == 1


def test_import_takes_rows_that_break_a_rule_and_says_so(ceibo: Ceibo) -> None:
    file = write(SPACE + RULES)
    rows = ["a,b,solvent,value", "0.2,0.3,THF,1", "0.9,0.9,DMF,2", "0.75,0,THF,3"]
    Path("data.csv").write_text("\n".join(rows))
    answer = ceibo("import", file, "data.csv")
    assert answer.status == 0
    assert "added 3 measurements" in answer.out
    assert "2 rows break a rule of the space, first 'a + b <= 1' with a=0.9  b=0.9" in answer.err
    assert len(Study.open("sqlite:///lab.db", "lab").trials) == 3
    Path("data.csv").write_text("\n".join(rows[:2]))
    assert "rule" not in ceibo("import", file, "data.csv", "--again").err


def test_init_writes_the_rules(ceibo: Ceibo) -> None:
    rules = ["a + b <= 1", 'solvent != "it\'s" if a > 0.5']
    given = [word for rule in rules for word in ("--rule", rule)]
    space = ["-p", "a=0:1", "-p", "b=0:1", "-p", "solvent=THF,it's"]
    assert ceibo("init", *space, *given).status == 0
    assert list(studyfile.load(Path("study.toml")).space.constraints) == rules
    assert ceibo("init", *space, "-o", "plain.toml").status == 0
    assert "constraints" not in Path("plain.toml").read_text()
    answer = ceibo("init", *space, "-o", "other.toml", "--rule", "a + x <= 1")
    assert answer.status == 2
    assert "rule 'a + x <= 1': expected a parameter of the space (a, b, solvent)" in answer.err
    assert not Path("other.toml").exists()


def test_predict_says_that_a_setting_breaks_a_rule(ceibo: Ceibo) -> None:
    file = write(SPACE + RULES)
    ceibo("ask", file, "--new")
    ceibo("tell", file, "0", "1.5")
    assert ceibo("predict", file, "a=0.2", "b=0.8", "solvent=DMF").err == ""
    odd = ceibo("predict", file, "a=0.6", "b=0.1", "solvent=THF")
    assert odd.status == 0
    assert "breaks a rule of the space, \"a <= 0.5 if solvent == 'THF'\"" in odd.err
