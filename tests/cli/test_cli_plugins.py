"""Verbs that other distributions add: in the help, imported when called, broken ones explained."""

import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from ceibo.cli import plugins
from tests.cli.cli_tools import Ceibo

Install = Callable[..., None]
GREET = """
import typer
app = typer.Typer()
@app.command()
def hello(name: str) -> None:
    typer.echo(f"hello {name}")
@app.command()
def bye() -> None:
    typer.echo("bye")
def wave(times: int = 1) -> None:
    "Wave with a hand."
    typer.echo("wave " * times)
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Writes the module `greet` and points verbs at it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "greet", raising=False)

    def write(code: str = GREET, **verbs: str) -> None:
        (tmp_path / "greet.py").write_text(code, encoding="utf-8")
        entries = [EntryPoint(name, value, plugins.GROUP) for name, value in verbs.items()]
        monkeypatch.setattr(plugins, "entry_points", lambda group: entries)

    return write


def test_a_verb_is_a_line_of_the_help_and_not_imported(ceibo: Ceibo, install: Install) -> None:
    install(greet="greet:app")
    answer = ceibo("--help")
    assert "greet" in answer.out
    assert "another distribution" in answer.out
    assert ceibo("init").status == 0
    assert "greet" not in sys.modules


def test_a_verb_with_commands_of_its_own(ceibo: Ceibo, install: Install) -> None:
    install(greet="greet:app")
    assert ceibo("greet", "hello", "you").out == "hello you\n"
    assert "bye" in ceibo("greet", "--help").out
    assert ceibo("greet", "nothing").status == 2


def test_a_verb_that_is_a_function(ceibo: Ceibo, install: Install) -> None:
    install(wave="greet:wave")
    assert ceibo("wave", "--times", 2).out == "wave wave \n"
    assert "Wave with a hand." in ceibo("wave", "--help").out


def test_the_verbs_of_ceibo_are_not_replaced(ceibo: Ceibo, install: Install) -> None:
    install(init="greet:wave")
    assert "wrote study.toml" in ceibo("init").out
    assert "greet" not in sys.modules


@pytest.mark.parametrize(
    ("code", "value", "words"),
    [
        ("import not_installed", "greet:app", "ModuleNotFoundError: No module named"),
        ("1 / 0", "greet:app", "ZeroDivisionError: division by zero"),
        ("", "greet:app", "AttributeError"),
        ("app = 3", "greet:app", "greet:app is neither a function nor a typer.Typer"),
        ("", "nowhere:app", "ModuleNotFoundError"),
    ],
)
def test_a_broken_verb_is_one_sentence(
    ceibo: Ceibo, install: Install, code: str, value: str, words: str
) -> None:
    install(code, greet=value)
    answer = ceibo("greet", "hello")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith("ceibo: the verb 'greet' of another distribution cannot be loaded")
    assert words in answer.err
    assert answer.err.count("\n") == 1
    assert "Traceback" in ceibo("--debug", "greet").err
    assert ceibo("init").status == 0  # the other verbs do not mind


def test_the_laboratory_is_named_where_it_is_not_installed(ceibo: Ceibo, install: Install) -> None:
    install()
    assert "paper" not in ceibo("--help").out
    for arguments in (["paper"], ["paper", "run", "all", "--help"], ["--debug", "paper", "list"]):
        answer = ceibo(*arguments)
        assert answer.status == 2
        assert "pip install path/to/the/clone/lab" in answer.err
