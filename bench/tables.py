"""RESULTS.md and the tables of docs/benchmarks.md from the measurements."""

from typing import Any, Final

from bench.process import ROOT
from ceibo.decide import DEFAULT_ACQUISITION

# (peer, n) -> how many times faster ceibo is to be, d = 6, one cold suggestion with corrected EI.
TARGETS: Final = {
    ("BoTorch LogEI", 50): 10,
    ("BoTorch LogEI", 150): 15,
    ("BoTorch LogEI", 300): 8,
    ("BoTorch LogEI", 1000): 3,
    ("BoTorch qLogNEI", 150): 20,
    ("BoTorch qLogNEI", 300): 20,
    ("Optuna GPSampler", 150): 8,
    ("Optuna GPSampler", 300): 3,
}
QUALITY_TARGET: Final = 0.95
THREAD_TARGET: Final = 0.30
OWN: Final = "ceibo corrected-ei"
DEFAULT: Final = f"ceibo {DEFAULT_ACQUISITION}"
PAGE: Final = ROOT / "docs" / "benchmarks.md"
BEGIN: Final = "<!-- written by python -m bench; do not edit -->\n"
END: Final = "<!-- end of what python -m bench writes -->\n"

Results = dict[str, Any]


def report(results: Results) -> str:
    """The whole of RESULTS.md."""
    parts = [
        "# Benchmarks",
        "Written by `make bench`; do not edit. Raw numbers are in `results.json`.",
        _machine(results["machine"]),
        *_sections(results),
    ]
    return "\n\n".join(parts) + "\n"


def page(text: str, results: Results) -> str:
    """The page of the documentation with the measurements in their place."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    parts = ["## In short", _headline(results), _machine(results["machine"]), *_sections(results)]
    return before + BEGIN + "\n" + "\n\n".join(parts) + "\n\n" + END + after


def _sections(results: Results) -> list[str]:
    """What was measured: a heading, the command, the tables."""
    parts = []
    for name, write in _WRITERS.items():
        if name in results:
            heading, _, body = write(results[name]).partition("\n\n")
            parts.append(f"{heading}\n\n`python -m bench --only {name}`\n\n{body}")
    return parts


def _headline(results: Results) -> str:
    """One line for each section, also for those without results."""
    lines = []
    for name, say in _HEADLINES.items():
        said = f"{name.capitalize()}: not in these results"
        if name in results:
            said = say(results[name])
        lines.append(f"- {said} (`python -m bench --only {name}`)")
    return "\n".join(lines)


def _speed_headline(speed: Results) -> str:
    sizes = [row["n"] for row in speed["rows"]]
    return (
        f"Speed: one cold suggestion, n = {min(sizes)} to {max(sizes)}, is"
        f" {_times_as_fast(speed['rows'], OWN)}"
    )


def _times_as_fast(rows: list[Results], own: str) -> str:
    """From the least to the largest ratio to each peer."""
    said = []
    for peer in [name for name in rows[0]["seconds"] if not name.startswith("ceibo")]:
        ratios = [row["seconds"][peer]["median"] / row["seconds"][own]["median"] for row in rows]
        said.append(f"{min(ratios):.0f} to {max(ratios):.0f} times as fast as {peer}")
    return ", ".join(said)


def _quality_headline(quality: Results) -> str:
    found = quality["groups"]["all"]
    return (
        f"Quality: on {found['ceibo_at_least']:.0%} of {found['surfaces']} surfaces the point found"
        " is at least as good as BoTorch's, and it is found"
        f" {found['botorch_seconds'] / found['ceibo_seconds']:.0f} times as fast"
    )


def _scaling_headline(scaling: Results) -> str:
    times = ", ".join(
        f"{row['total']:.2g} s with {row['n']}"
        for row in scaling["rows"]
        if row["n"] in (100, 300, 1000)
    )
    return f"Growth: one suggestion takes {times} observations"


def _threads_headline(threads: Results) -> str:
    ratios = [row["ratio"] for row in threads["rows"]]
    return (
        f"Threads: with the library's default it takes {min(ratios):.2f} to {max(ratios):.2f} of"
        " the time with one"
    )


def _footprint_headline(footprint: Results) -> str:
    said = [
        f"{row['name']} {row['megabytes']:,.0f} MB and {row['import']:.1f} s"
        for row in footprint["rows"]
    ]
    return f"Installed size and import time: {', '.join(said)}"


def _machine(machine: Results) -> str:
    versions = ", ".join(
        f"{name} {number}" for name, number in machine["versions"].items() if number
    )
    return (
        f"{machine['date']}, {machine['processor']}, {machine['cores']} cores (load"
        f" {machine['load']} at the start), Python {machine['python']}, {versions}."
    )


def _speed(speed: Results) -> str:
    rows = speed["rows"]
    names = list(rows[0]["seconds"])
    peers = [name for name in names if not name.startswith("ceibo")]
    seconds = [
        [*_which(row), *(_pair(row["seconds"][name]) for name in names), str(row["repeats"])]
        for row in rows
    ]
    ratios = [[*_which(row), *(_ratio_cell(row, name) for name in peers)] for row in rows]
    inside = [
        [
            *_which(row),
            *(f"{1e3 * row['ceibo'][part]:.3g}" for part in ("fit", "maximise", "floor")),
            f"{row['ceibo']['evaluations']:.0f}",
            f"{row['seconds'][OWN]['median'] / row['ceibo']['floor']:.1f}",
        ]
        for row in rows
    ]
    return "\n\n".join(
        [
            f"## One cold suggestion, d = {speed['dimension']}",
            (
                "Fit and maximise, from data to the next point, on the same data, in one process,"
                " all sides with one BLAS thread, taking turns; imports and a first small call are"
                " not counted. BoTorch: SingleTaskGP with the known noise, standardised outcomes, 4"
                " restarts and 256 raw samples. Optuna: a study of n finished trials and a fresh"
                " GPSampler. Data: a bowl with ripples, each value with its own known noise of up"
                " to 10 % of the range; *spread*: at Sobol points; *run*: as an optimisation leaves"
                " them, mostly around the optimum."
            ),
            (
                "How many times faster ceibo's corrected EI is (medians; in brackets the target,"
                " **bold** where met):"
            ),
            _table(["data", "n", *peers], ratios),
            (
                f"The default acquisition, `{DEFAULT_ACQUISITION}`, is"
                f" {_times_as_fast(rows, DEFAULT)}."
            ),
            "Seconds, median (minimum):",
            _table(["data", "n", *names, "repeats"], seconds),
            (
                "Inside ceibo, milliseconds. The floor is what LAPACK needs for the factorizations"
                " alone: a Cholesky factor and inverse for each evaluation of the likelihood, at"
                " the number of rows it was made on, and one for the final model."
            ),
            _table(
                [
                    "data",
                    "n",
                    "fit",
                    "maximise",
                    "LAPACK floor",
                    "evaluations",
                    "suggestion / floor",
                ],
                inside,
            ),
        ]
    )


def _which(row: Results) -> list[str]:
    return [row["data"], str(row["n"])]


def _ratio_cell(row: Results, peer: str) -> str:
    ratio = row["seconds"][peer]["median"] / row["seconds"][OWN]["median"]
    target = TARGETS.get((peer, row["n"]))
    if target is None:
        return f"{ratio:.1f}"
    return f"**{ratio:.1f}** ({target})" if ratio >= target else f"{ratio:.1f} ({target}, missed)"


def _quality(quality: Results) -> str:
    rows = []
    for name, group in quality["groups"].items():
        rows.append(
            [
                name,
                str(group["surfaces"]),
                f"{group['ceibo_at_least']:.1%}",
                f"{group['botorch_at_least']:.1%}",
                *(f"{value:.2g}" for value in group["quantiles"].values()),
                f"{group['botorch_seconds'] / group['ceibo_seconds']:.1f}",
            ]
        )
    everything = quality["groups"]["all"]
    met = "met" if everything["ceibo_at_least"] >= QUALITY_TARGET else "missed"
    quantiles = [f"{float(q):.0%}" for q in everything["quantiles"]]
    return "\n\n".join(
        [
            "## The point found, on the same surface",
            (
                "Random surfaces fitted by ceibo; BoTorch gets the identical model. EI at the point"
                " each maximiser finds: how often one side's is at least 99.9 % of the other's, and"
                " quantiles of log(ceibo's EI / BoTorch's): below zero BoTorch found more, above"
                " zero ceibo. Last, how many times faster ceibo's maximiser alone is."
            ),
            _table(
                [
                    "",
                    "surfaces",
                    "ceibo ≥ BoTorch",
                    "BoTorch ≥ ceibo",
                    *quantiles,
                    "time, BoTorch / ceibo",
                ],
                rows,
            ),
            (
                f"Target: ceibo ≥ BoTorch on {QUALITY_TARGET:.0%} of surfaces: {met}. The two"
                " libraries' log EI at BoTorch's point differ by at most"
                f" {everything['model_difference']:.1g}, so the surfaces are the same."
            ),
        ]
    )


def _scaling(scaling: Results) -> str:
    rows = [
        [str(row["n"]), *(f"{row[part]:.3g}" for part in ("fit", "maximise", "total"))]
        for row in scaling["rows"]
    ]
    return "\n\n".join(
        [
            "## Growth with the number of observations",
            (
                "ceibo alone, seconds, with its own choice of BLAS threads (median of three data"
                " sets)."
            ),
            _table(["n", "fit", "maximise", "total"], rows),
            (
                f"Seconds grow as n^{scaling['exponent']:.2f} over the whole table,"
                f" n^{scaling['exponent_larger']:.2f} over its larger half."
            ),
        ]
    )


def _threads(threads: Results) -> str:
    rows = []
    for row in threads["rows"]:
        met = "met" if abs(row["ratio"] - 1.0) <= THREAD_TARGET else "missed"
        rows.append(
            [
                str(row["n"]),
                *(f"{1e3 * row[k]:.3g}" for k in ("one", "default")),
                f"{row['ratio']:.2f}",
                met,
            ]
        )
    return "\n\n".join(
        [
            "## BLAS threads",
            (
                "One suggestion by ceibo, milliseconds, in processes started with one BLAS thread"
                f" and with the library's default. Target: the same to ±{THREAD_TARGET:.0%}."
            ),
            _table(["n", "one thread", "default", "default / one", "target"], rows),
        ]
    )


def _footprint(footprint: Results) -> str:
    rows = [
        [row["name"], f"{row['import']:.2f}", f"{row['megabytes']:,.0f}", str(len(row["packages"]))]
        for row in footprint["rows"]
    ]
    return "\n\n".join(
        [
            "## Before the first suggestion",
            (
                "Import time in a fresh process and size on disk, with everything required (for"
                " Optuna's GPSampler that includes torch and scipy)."
            ),
            _table(["", "import, s", "installed, MB", "packages"], rows),
        ]
    )


def _pair(summary: dict[str, float]) -> str:
    return f"{summary['median']:.3g} ({summary['minimum']:.3g})"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["--:"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


_WRITERS: Final = {
    "speed": _speed,
    "quality": _quality,
    "scaling": _scaling,
    "threads": _threads,
    "footprint": _footprint,
}
_HEADLINES: Final = {
    "speed": _speed_headline,
    "quality": _quality_headline,
    "scaling": _scaling_headline,
    "threads": _threads_headline,
    "footprint": _footprint_headline,
}


def write(results: Results, folder: str, *, pages: bool) -> str:
    """Writes RESULTS.md and, if asked, the page of the documentation; returns the text."""
    text = report(results)
    (ROOT / folder / "RESULTS.md").write_text(text, encoding="utf-8")
    if pages:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")
    return text
