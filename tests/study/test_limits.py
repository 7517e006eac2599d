"""The bounds of times given: what a clock or a thread cannot count is refused in a sentence."""

import sys
from pathlib import Path

import pytest

import ceibo
from ceibo import Float, InputError
from ceibo.cli.studyfile import parse
from ceibo.command.command import Command
from ceibo.command.placeholders import Template
from ceibo.decide import Measurement, Space
from ceibo.study import Limits

STUDY = 'space.x = {type = "float", low = 0, high = 1}\n'


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"lease": 1e-9}, "lease must be from 0.1 to 2,592,000"),
        ({"lease": 1e10}, "lease must be from 0.1 to 2,592,000"),
        ({"timeout": 1e10}, r"timeout must be at most 315,360,000 \(3,650 days\) seconds"),
        ({"timeout": 10**400}, "timeout must be"),
        ({"cost": 10**400}, "cost must be"),
    ],
)
def test_times_have_bounds(options: dict[str, float], wanted: str) -> None:
    with pytest.raises(InputError, match=wanted):
        ceibo.minimize(lambda p: p["x"], {"x": Float(0, 1)}, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", ["1e-9", "1e10", "1" + "0" * 399, "1" + "0" * 4999])
@pytest.mark.parametrize("key", ["lease", "time", "timeout", "cost"])
def test_times_of_a_study_file_have_bounds(key: str, number: str) -> None:
    tables = {
        "lease": "run.lease = {}",
        "time": "stop.time = {}",
        "timeout": 'command = {{argv = ["echo"], timeout = {}}}',
        "cost": "stop.cost = {}",
    }
    content = (STUDY + tables[key].format(number)).encode()
    allowed = {"lease": 0, "time": 1, "timeout": 1, "cost": 2}[key]
    if number in ("1e-9", "1e10")[:allowed]:
        assert parse(content, Path("study.toml"))
        return
    with pytest.raises(InputError, match=r"^study"):
        parse(content, Path("study.toml"))


def test_the_bounds_themselves_are_allowed() -> None:
    assert Limits(lease=0.1).lease == 0.1
    assert Limits(lease=30 * 86_400, timeout=3650 * 86_400).timeout == 315_360_000


def test_a_limit_longer_than_a_thread_can_wait(tmp_path: Path) -> None:
    """The supervisor is asked by other programs too, which give it what they like."""
    argv = (sys.executable, "-c", "import time; time.sleep(0.3); print(0.5)")
    command = Command(Template(argv, Space({"x": Float(0, 1)}), tmp_path, timeout=1e10))
    assert command({"x": 0.5}) == Measurement(0.5)
