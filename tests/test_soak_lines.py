"""Lines that a long run keeps: whole ones are read, whatever a kill left behind."""

from pathlib import Path

from soak.lines import add_line, read_lines


def test_lines_are_read_back_and_a_torn_one_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    assert list(read_lines(path)) == []
    add_line(path, {"a": 1})
    add_line(path, [2, None])
    path.write_bytes(path.read_bytes() + b'{"cut": ')
    add_line(path, "after")
    assert list(read_lines(path)) == [{"a": 1}, [2, None], "after"]
