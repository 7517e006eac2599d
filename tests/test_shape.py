"""The limits of the house: sizes, privacy, cycles; and that their check can fail."""

from pathlib import Path

import pytest

from tools.shape import main

ROOT = Path(__file__).resolve().parent.parent


def test_the_house_keeps_its_limits(capsys: pytest.CaptureFixture[str]) -> None:
    status = main([str(ROOT), "--check"])
    assert status == 0, capsys.readouterr().out


def test_the_check_sees_what_it_forbids(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    package = tmp_path / "src" / "ceibo"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text("from ceibo import two\n\nX = two.Y._hidden\n")
    (package / "two.py").write_text("from ceibo import one\n\nY = one\n" + "# long" * 20 + "\n")
    assert main([str(tmp_path), "--check"]) == 1
    said = capsys.readouterr().out
    for fault in ("_hidden", "import one another", "100"):
        assert fault in said
