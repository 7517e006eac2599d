"""Verdicts follow their rule; report and figures are written from records; the command line puts it
together.
"""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ceibo_lab.claims import all_claims
from ceibo_lab.cli import app
from ceibo_lab.compare import Row, Table, Verdict, compare, table
from ceibo_lab.figures import write_figures
from ceibo_lab.library import Library, Setting
from ceibo_lab.page import Page
from ceibo_lab.records import Read
from ceibo_lab.report import report, write_report


def row(differences: list[float], lower: bool = True) -> Row:
    return Row("case", compare(np.array(differences), np.zeros(len(differences))), lower)


ALL_LOWER, ALL_HIGHER = [-float(k) for k in range(1, 16)], [float(k) for k in range(1, 16)]
MIXED = [(-1.0) ** k * k for k in range(1, 16)]


def test_a_claim_is_decided_by_its_corrected_rows() -> None:
    assert table("", [row(ALL_LOWER)]).verdict is Verdict.HOLDS
    assert table("", [row(ALL_LOWER, lower=False)]).verdict is Verdict.FAILS
    assert table("", [row(ALL_HIGHER, lower=False)]).verdict is Verdict.HOLDS
    assert table("", [row(ALL_LOWER), row(MIXED)]).verdict is Verdict.UNDECIDED
    assert table("", [row(ALL_LOWER), row(ALL_HIGHER), row(MIXED)]).verdict is Verdict.FAILS
    assert table("", [None]).verdict is Verdict.NOT_RUN
    assert table("", [row([0.0] * 15)]).rows[0].verdict is Verdict.EQUAL
    assert table("", [row(ALL_LOWER), row([0.0] * 15)]).verdict is Verdict.UNDECIDED
    assert table("", [row(ALL_LOWER), row(MIXED)]).counts == "holds in 1, undecided in 1 of 2"


def test_the_correction_is_over_the_whole_table() -> None:
    """Six wins of six have p = 1/32: enough alone, not among ten."""
    six = row(ALL_LOWER[:6])
    assert table("", [six]).verdict is Verdict.HOLDS
    many: Table = table("", [six] * 10)
    assert many.rows[0].corrected_p == pytest.approx(10 / 32)
    assert many.verdict is Verdict.UNDECIDED


def test_pairs_are_matched_by_seed_and_length(serial: Read) -> None:
    library = Library(serial.records)
    first, second = Setting("hartmann", "corrected-ei"), Setting("hartmann", "ei")
    pairs = library.pairs(first, second)
    assert [(a["cell"]["seed"], b["cell"]["seed"]) for a, b in pairs] == [(0, 0), (1, 1)]
    assert library.pairs(first, Setting("levy", "ei")) == []
    assert library.describe(first) == "n = 2, T = 4"


def test_a_report_of_few_records_says_what_it_can(serial: Read, tmp_path: Path) -> None:
    claims = {claim.statement: claim.verdict for claim in all_claims(Library(serial.records))}
    assert Verdict.UNDECIDED in claims.values()
    assert Verdict.NOT_RUN in claims.values()
    broken = serial.records[0] | {"status": "failed", "error": "ValueError: no", "key": "x"}
    read = Read([*serial.records, broken], ["small.jsonl: line 9 is not whole and was left out."])
    text = report(read, [], "ceibo paper run all").markdown()
    for words in (
        "undecided",
        "not run",
        "1 failed",
        "ValueError: no",
        "line 9 is not whole",
        "ceibo paper run all",
    ):
        assert words in text
    markdown, html = write_report(read, tmp_path, [("figures/a.png", "a picture")], "x")
    assert "![a picture](figures/a.png)" in markdown.read_text()
    assert '<img src="figures/a.png"' in html.read_text()


def test_figures_are_drawn_for_what_there_is(serial: Read, tmp_path: Path) -> None:
    written = write_figures(Library(serial.records), tmp_path)
    assert [name for name, _ in written] == [
        "benchmark-10-heteroscedastic-plain.png",
        "benchmark-10-heteroscedastic-plain-measures.png",
    ]
    for name, _ in written:
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / name).with_suffix(".svg").read_text()


def test_pages_escape_what_html_would_read() -> None:
    page = Page("a < b")
    page.paragraph("`x < y` and **bold**")
    page.table(("a|b",), [("c|d",)])
    assert "a &lt; b" in page.html()
    assert "<code>x &lt; y</code> and <strong>bold</strong>" in page.html()
    assert "a\\|b" in page.markdown()


def test_the_command_line_from_run_to_report(tmp_path: Path) -> None:
    call = CliRunner().invoke
    out = ["--out", str(tmp_path)]
    assert "gp-samples" in call(app, ["list"]).output
    assert call(app, ["report", "--no-fill", *out]).exit_code == 2
    assert call(app, ["run", "nothing", *out]).exit_code == 2
    done = call(app, ["run", "scenario", "gp-samples", "--quick", "--backend", "serial", *out])
    assert done.exit_code == 0, done.output
    assert "scenario.png" in call(app, ["figures", *out]).output
    assert call(app, ["report", "--no-fill", *out]).exit_code == 0
    text = (tmp_path / "report.md").read_text()
    assert "figures/gp-samples.png" in text
    assert "domain [0, 40], f at the incumbent" in text
