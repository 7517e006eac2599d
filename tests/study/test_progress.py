"""The progress display: in a terminal, and silence elsewhere."""

import itertools
import os
import pty
import re
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import pytest

import ceibo
from ceibo.study.progress import _clock, _pack

CODE = """
import ceibo

def objective(params):
    if params["x"] > 0.9:
        raise ValueError("too hot")
    return ceibo.Measurement((params["x"] - 0.3) ** 2, noise=0.05)

space = {"x": ceibo.Float(0, 1), "solvent": ceibo.Categorical(["water", "ethanol"])}
ceibo.minimize(objective, space, n_trials=12, cost=1e-6, seed=0, max_failures=12)
"""


def in_a_terminal(code: str) -> str:
    """What a program shows on a pseudo-terminal of 100 columns, without the control sequences; a
    return ends a line.
    """
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=follower, stderr=follower, env=environment
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:  # the other end was closed
            break
        if not chunk:
            break
        shown += chunk
    os.close(leader)
    assert process.wait() == 0, shown.decode()
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode()).replace("\r", "\n")


def test_in_a_terminal() -> None:
    shown = in_a_terminal(CODE)
    assert re.search(
        r"^\s+0  [\d.e-]+ ± 0\.050  x=[\d.]+  solvent=(water|ethanol)", shown, re.MULTILINE
    )
    assert re.search(r"\d+  failed: ValueError: too hot  x=", shown)
    assert "12/12 trials" in shown
    assert re.search(r"best [\d.e-]+ ± [\d.e-]+ \(trial \d+\)", shown)
    assert re.search(r"still to gain [\d.e-]+, a trial costs 1e-06", shown)
    assert re.search(r"\d:\d\d:\d\d left", shown)


def test_silence_where_nobody_looks() -> None:
    result = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True
    )
    assert result.stdout + result.stderr == ""


def test_wanted_or_not(capfd: pytest.CaptureFixture[str]) -> None:
    space = {"x": ceibo.Float(0, 1)}
    ceibo.minimize(lambda p: p["x"], space, n_trials=2, progress=True)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "2/2 trials" in shown.err
    assert shown.err.endswith(")\n")
    ceibo.minimize(lambda p: p["x"], space, n_trials=2, progress=False)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_nothing_is_cut_in_a_narrow_terminal(width: int) -> None:
    parts = ["12/120 trials", "0:00:12 left", "best 0.5 ± 0.1", "still to gain 0.01"]
    lines = _pack(parts, width).split("\n")
    assert " · ".join(lines).split(" · ") == parts
    assert max(map(len, lines)) <= width
    for line, following in itertools.pairwise(lines):
        assert len(f"{line} · {following.split(' · ')[0]}") > width


def test_clock() -> None:
    assert [_clock(s) for s in (0.2, 61, 3725.4)] == ["0:00:00", "0:01:01", "1:02:05"]


class FakeDisplay:
    """Stands in for IPython's display: keeps what each output shows at last."""

    def __init__(self) -> None:
        self.outputs: list[dict[str, str]] = []
        self.changes = 0

    def __call__(self, data: dict[str, str], *, raw: bool, display_id: bool) -> "FakeDisplay":
        assert raw
        assert display_id
        self.outputs.append(data)
        return self

    def update(self, data: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.outputs[-1] = data
        self.changes += 1


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> FakeDisplay:
    """A kernel of a notebook around this process, without ipywidgets."""
    shown = FakeDisplay()
    module = ModuleType("IPython")
    module.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    displays = ModuleType("IPython.display")
    displays.display = shown  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", displays)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    return shown


def test_a_notebook_shows_one_output_with_the_last_state(
    notebook: FakeDisplay, capfd: pytest.CaptureFixture[str]
) -> None:
    space = {"<b>x": ceibo.Float(0, 1)}
    ceibo.minimize(lambda p: (p["<b>x"] - 0.3) ** 2, space, n_trials=9)
    (output,) = notebook.outputs
    assert "9/9 trials" in output["text/plain"]
    assert re.search(r"best [\d.e-]+ ± [\d.e-]+ \(trial \d+\)", output["text/plain"])
    assert " left" not in output["text/plain"]
    lines = [line for line in output["text/plain"].splitlines() if "<b>x=" in line]
    assert [int(line.split()[0]) for line in lines] == [3, 4, 5, 6, 7, 8]
    assert "&lt;b&gt;x=" in output["text/html"]
    assert capfd.readouterr() == ("", "")


def test_a_notebook_shows_the_last_state_of_a_run_that_raised(notebook: FakeDisplay) -> None:
    values = iter([1.0])

    def breaks(params: dict[str, float]) -> float:
        for value in values:
            return value
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        ceibo.minimize(breaks, {"x": ceibo.Float(0, 1)}, n_trials=9)
    (output,) = notebook.outputs
    assert "failed: ValueError: no" in output["text/plain"]


def test_a_notebook_is_silent_if_wanted_and_a_console_is_none(
    notebook: FakeDisplay, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = {"x": ceibo.Float(0, 1)}
    ceibo.minimize(lambda p: p["x"], space, n_trials=2, progress=False)
    console = SimpleNamespace(get_ipython=lambda: object())  # IPython in a terminal
    monkeypatch.setitem(sys.modules, "IPython", console)
    ceibo.minimize(lambda p: p["x"], space, n_trials=2)
    assert notebook.outputs == []
