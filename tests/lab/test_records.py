"""Record files that are torn, foreign or cut off are read as far as they are whole, and that is
said.
"""

import gzip
import json
from pathlib import Path

from ceibo_lab.archive import archive
from ceibo_lab.record import Cell
from ceibo_lab.records import Read, Writer, pack, read, timeless


def lines(serial: Read) -> list[bytes]:
    return [json.dumps(record).encode() + b"\n" for record in serial.records]


def test_a_torn_last_line_is_left_out_and_said(serial: Read, tmp_path: Path) -> None:
    path = tmp_path / "small.jsonl"
    whole = lines(serial)
    path.write_bytes(b"".join(whole[:2]) + whole[2][:100])
    found = read(path)
    assert len(found.records) == 2
    assert found.notes == ["small.jsonl: line 3 is not whole and was left out."]


def test_the_next_writer_cuts_a_torn_line_off(serial: Read, tmp_path: Path) -> None:
    path = tmp_path / "small.jsonl"
    whole = lines(serial)
    path.write_bytes(whole[0] + whole[1][:-1])  # even if only the end of the line is missing
    with Writer(path) as writer:
        assert "torn last line" in writer.notes[0]
        writer.add(serial.records[1])
    found = read(path)
    assert [timeless(record) for record in found.records] == [
        timeless(record) for record in serial.records[:2]
    ]
    assert found.notes == []


def test_every_cut_of_a_file_leaves_the_whole_records(serial: Read, tmp_path: Path) -> None:
    content = b"".join(lines(serial)[:2])
    first = content.index(b"\n") + 1
    path = tmp_path / "small.jsonl"
    for cut in range(0, len(content), 97):
        path.write_bytes(content[:cut])
        assert len(read(path).records) == (cut >= first - 1) + (cut >= len(content) - 1)


def test_another_format_or_version_is_said(serial: Read, tmp_path: Path) -> None:
    newer = serial.records[0] | {"format": 99}
    older = serial.records[1] | {"versions": {"ceibo": "0.0.1"}}
    path = tmp_path / "small.jsonl"
    path.write_text(
        "\n".join(json.dumps(record) for record in (newer, older, serial.records[2])) + "\n[1, 2]\n"
    )
    found = read(tmp_path)
    assert len(found.records) == 2
    assert any("1 records of another format" in note for note in found.notes)
    assert any("0.0.1" in note for note in found.notes)
    assert any("line 4 is not whole" in note for note in found.notes)


def test_packed_records_come_back_and_a_cut_archive_is_read_as_far_as_it_goes(
    serial: Read, tmp_path: Path
) -> None:
    path = tmp_path / "small.jsonl.gz"
    assert pack(serial.records, path) == 4
    again = path.read_bytes()
    pack(list(reversed(serial.records)), path)
    assert path.read_bytes() == again
    assert sorted(record["key"] for record in read(tmp_path).records) == sorted(
        r["key"] for r in serial.records
    )
    path.write_bytes(again[: len(again) // 2])
    found = read(tmp_path)
    assert len(found.records) < 4
    assert "ends early" in found.notes[-1]
    path.write_bytes(again[:40] + bytes([again[40] ^ 1]) + again[41:])
    assert "is damaged" in read(tmp_path).notes[-1]


def test_of_several_records_of_one_cell_the_first_stands(serial: Read, tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.jsonl.gz", "wb") as stream:
        stream.write(lines(serial)[0])
    (tmp_path / "b.jsonl").write_bytes(b"".join(lines(serial)))
    assert len(read(tmp_path).records) == 4


def test_what_is_finished_stands_before_a_newer_failure(serial: Read, tmp_path: Path) -> None:
    done = serial.records[0]
    older = done | {"algorithm": 1, "digest": "of before"}
    failed = done | {"status": "failed", "error": "ZeroDivisionError: …"}
    for order in ((older, failed), (failed, older)):
        pack(order, tmp_path / "a.jsonl.gz")
        assert [record["digest"] for record in read(tmp_path).done] == ["of before"]
    pack((older, failed, done), tmp_path / "a.jsonl.gz")
    assert [record["digest"] for record in read(tmp_path).done] == [done["digest"]]


def test_an_archive_holds_every_record_under_its_experiment(serial: Read, tmp_path: Path) -> None:
    profit = json.loads(json.dumps(serial.records[0]))
    profit["cell"] |= {
        "problem": "sphere",
        "protocol": "homoscedastic",
        "level": 20 / 300,
        "steps": 150,
    }
    profit["key"] = Cell.from_json(profit["cell"]).key
    pack([profit, *serial.records], tmp_path / "mixed.jsonl.gz")
    _, counts = archive(tmp_path, tmp_path / "kept")
    assert counts == {"other": 4, "profit": 1}
    assert len(read(tmp_path / "kept").records) == 5
