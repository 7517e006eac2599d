"""A dimension type added from outside, by the recipe of CONTRIBUTING.md, serves at every door."""

import importlib
import json
import os
import pickle
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ceibo
from ceibo.cli import studyfile
from ceibo.command.placeholders import Template
from ceibo.decide import Space
from ceibo.decide.dimensions import Dimension, Float, register
from ceibo.decide.dimensions.table import TYPES
from ceibo.errors import InputError
from ceibo.report import render_report

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the recipe's module, installed with the recipe's entry point."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipe = text.partition("## Add a dimension\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^ *```(\w+)\n(.*?)^ *```$", recipe, re.DOTALL | re.MULTILINE)
    code, settings = (textwrap.dedent(block) for _, block in blocks)
    assert [kind for kind, _ in blocks] == ["python", "toml"]
    folder = tmp_path_factory.mktemp("package")
    (folder / "powers.py").write_text(code, encoding="utf-8")
    (group, entries), *_ = tomllib.loads(settings)["project"]["entry-points"].items()
    lines = [f"[{group}]", *(f"{name} = {place}" for name, place in entries.items())]
    metadata = folder / "powers-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: powers\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    return folder


@pytest.fixture
def power(package: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The class, registered for the time of a test."""
    monkeypatch.syspath_prepend(str(package))
    sys.modules.pop("powers", None)
    yield importlib.import_module("powers").PowerOfTwo
    vars(TYPES)["_items"].pop("power-of-two")


def test_a_study_uses_it_stores_it_and_verifies(power: Any, tmp_path: Path) -> None:
    space = {"batch": power(10), "x": ceibo.Float(0, 1)}
    url = f"sqlite:///{tmp_path}/study.db"
    study = ceibo.Study.create(space, storage=url, name="powers", seed=1)
    for trial in study.ask(4):
        study.tell(trial, abs(trial.params["batch"] - 64) / 100 + trial.params["x"], noise=0.01)
    for _ in range(8):
        trial = study.ask()
        study.tell(trial, abs(trial.params["batch"] - 64) / 100 + trial.params["x"], noise=0.01)
    assert {type(trial.params["batch"]) for trial in study.trials} == {int}
    again = ceibo.Study.open(url, "powers", space=space)
    assert again.space.dimensions["batch"] == power(10)
    assert again.best == study.best
    assert again.recommended.params["batch"] in [2**index for index in range(11)]
    verified = again.verify()
    assert verified.checked == verified.identical > 0
    again.add({"batch": 2, "x": 0.5}, 1.0)
    with pytest.raises(InputError, match=r"'batch': expected a power of two up to 1024, got 3\.$"):
        again.add({"batch": 3, "x": 0.5}, 1.0)
    page = render_report(again)
    assert "power of two up to 1024" in page
    assert ">2^3</text>" in page


def test_coordinates_round_trip_and_are_listed(power: Any) -> None:
    space = Space({"batch": power(6)})
    values = [2**index for index in range(7)]
    units = space.to_unit_rows([{"batch": value} for value in values])[:, 0]
    np.testing.assert_array_equal(units, space.discrete[0])
    assert [space.from_unit([u])["batch"] for u in units] == values
    assert space.from_unit([1.0])["batch"] == 64
    assert space.categorical == ()
    assert pickle.loads(pickle.dumps(space)) == space


def test_it_may_exist_only_sometimes_and_decide_on_others(power: Any) -> None:
    space = Space(
        {
            "kind": ceibo.Categorical(["a", "b"]),
            "batch": power(3, when={"kind": "a"}),
            "x": Float(0, 1, when={"batch": [4, 8]}),
        }
    )
    assert Space.from_json(json.loads(json.dumps(space.to_json()))) == space
    assert repr(space.dimensions["batch"]) == "PowerOfTwo(exponent=3, when={'kind': 'a'})"
    assert space.from_unit([0.1, 0.9, 0.5]) == {"kind": "a", "batch": 8, "x": 0.5}
    assert space.from_unit([0.1, 0.1, 0.5]) == {"kind": "a", "batch": 1}
    assert space.from_unit([0.9, 0.9, 0.5]) == {"kind": "b"}
    (where,) = (each for each in space.branches if each.column == 2)
    np.testing.assert_array_equal(where.coordinates, space.discrete[1][2:])


def test_a_command_gets_its_values(power: Any, tmp_path: Path) -> None:
    template = Template(("train", "--batch={batch}"), Space({"batch": power(6)}), tmp_path)
    assert template.arguments({"batch": 32}) == ["train", "--batch=32"]
    assert template.environment({"batch": 32}) == {"CEIBO_batch": "32"}


@pytest.mark.usefixtures("power")
def test_a_study_file_is_checked_in_its_own_words(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    for entry, message in {
        "exponent = 99": "parameter 'batch': expected an exponent from 1 to 40, got exponent = 99.",
        "exponnent = 9": "with the keys exponent, got 'exponnent'; did you mean 'exponent'?",
        "": "parameter 'batch': expected exponent in a table of type 'power-of-two', got {type =",
    }.items():
        path.write_text(f'[space]\nbatch = {{type = "power-of-two"{", " * bool(entry)}{entry}}}')
        with pytest.raises(InputError) as error:
            studyfile.load(path)
        assert message in str(error.value)


VERBS = """
import json, sys
from ceibo.cli import main

for arguments in json.loads(sys.argv[1]):
    try:
        main(arguments)
    except SystemExit as end:
        assert not end.code, (arguments, end.code)
assert "powers" in sys.modules
"""


def test_the_shell_finds_it_where_its_package_is_installed(package: Path, tmp_path: Path) -> None:
    paths = os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("CEIBO_STORAGE", None)
    (tmp_path / "old.csv").write_text("batch,x,value\n16,0.5,8\n", encoding="utf-8")
    command = (sys.executable, "-c", "import sys; print(abs(float(sys.argv[1]) - 8))", "{batch}")
    verbs = [
        ["init", "-p", "batch=2^6", "-p", "x=0:1", "--trials", "4", "--", *command],
        ["import", "study.toml", "old.csv"],
        ["run", "study.toml"],
        ["show", "study.toml"],
        ["report", "study.toml", "-o", "report.html"],
    ]
    done = subprocess.run(
        [sys.executable, "-c", VERBS, json.dumps(verbs)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "batch=16" in done.stdout.replace(" ", "")
    file, page = (
        (tmp_path / name).read_text(encoding="utf-8") for name in ("study.toml", "report.html")
    )
    assert '\nbatch = {type = "power-of-two", exponent = 6}\n' in file
    assert "power of two up to 64" in page


def test_what_is_not_registered_is_refused(power: Any) -> None:
    @dataclass(frozen=True)
    class Other(power):  # type: ignore[misc]  # a class made to be refused
        type_name = "other"

    with pytest.raises(InputError, match=r"'x': expected a registered type of dimension.*register"):
        Space({"x": Other(3)})
    Other.type_name = "float"
    with pytest.raises(InputError, match=r"not taken, got 'float' .* of .*Float"):
        register(Other)
    with pytest.raises(InputError, match="expected a dataclass with every method"):
        register(Dimension)
    assert TYPES["float"] is Float
    assert register(power) is power
