"""The compression experiments as a page of Markdown, from records.

python -m pages.compression results/compression --docs docs
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from ceibo_lab.compare import band, compare_by_seed, holm
from ceibo_lab.library import Library
from ceibo_lab.methods import METHODS
from ceibo_lab.plans.compression import TITLES
from ceibo_lab.records import Read, read
from pages.compression.figures import write_figures
from pages.compression.results import (
    ANSWERS,
    FEWEST_FOR_TESTS,
    MUST,
    PLANNED,
    finals,
    finishing,
    lacking,
    mean_of,
    optimism,
    runs_of,
    setting,
)
from pages.compression.stall import NEAR, Stall, crowd, stall

NAME: Final = "compression.md"
PICTURES: Final = "images/compression"
HERE: Final = Path(__file__).parent
VARIANTS: Final = (
    ("maximum a posteriori", "corrected-ei/map", "pooled"),
    ("`smoothed` noise", "corrected-ei", "smoothed"),
    ("`smoothed` noise, maximum a posteriori", "corrected-ei/map", "smoothed"),
    ("`reference` noise", "corrected-ei", "reference"),
)
RANDOM_ANSWERS: Final = (
    ("recommended", "recommended network"),
    ("best", "`best`"),
    ("best_observed", "network with the lowest noisy value"),
)


def page(
    library: Library,
    figures: dict[str, list[tuple[str, str]]],
    link: str,
    notes: Sequence[str] = (),
) -> str:
    """The whole page; `link` leads from it to the folder of figures."""
    parts = [_text("introduction")]
    for task in TITLES:
        if runs_of(library, task):
            parts.append(_section(library, task, figures.get(task, []), link))
        elif task in MUST:
            plan = PLANNED[task]
            names = ", ".join(METHODS[method].label for method in plan.methods)
            said = (
                f"**Not run yet: there are no records.** Planned are {plan.seeds} replications each"
                f" of {names}."
            )
            parts.append(f"## {TITLES[task]}\n\n{' '.join([said, *finishing(task)])}\n")
    if runs_of(library, "fc3"):
        parts.append(_text("analysis"))
    parts.append(_text("differences"))
    if notes:
        parts.append(
            "## Notes on the records\n\n" + "\n".join(f"- {note}" for note in notes) + "\n"
        )
    return "\n".join(parts)


def _text(name: str) -> str:
    """A part of the page that is the same whatever came out."""
    return (HERE / f"{name}.md").read_text(encoding="utf-8")


def _section(library: Library, task: str, figures: list[tuple[str, str]], link: str) -> str:
    runs = runs_of(library, task)
    any_run = next(iter(next(iter(runs.values())).values()))
    original, about = any_run["uncompressed"], any_run["task"]
    lines = [
        f"## {TITLES[task]}",
        "",
        (
            f"Uncompressed: error {original['error']:.4f}, {original['layer_weights']:,} weights in"
            f" the factorized layers, {original['parameters']:,} parameters in all, objective"
            f" {original['objective']:.4f}. Evaluation set: {about['pictures']}. Weights: sha256"
            f" {about['weights'][:16]}…."
        ),
        "",
        *([left, ""] if (left := lacking(library, task)) else []),
        *_answers(library, task),
        "",
        *_tests(library, task),
        "",
        *_variants(library, task),
        *_networks(library, task),
        "",
        *_sentences(library, task),
        "",
        *_crowds(library, task),
        "",
    ]
    for name, caption in figures:
        lines += [f"![{caption}]({link}/{name})", "", f"*{caption}.*", ""]
    return "\n".join(lines)


def _mean(values: Sequence[float]) -> str:
    found = band(np.array(values)[:, None])
    half = float(found.high[0] - found.mean[0])
    return (
        f"{float(found.mean[0]):.4f} ± {half:.4f}"
        if len(values) > 1
        else f"{float(found.mean[0]):.4f}"
    )


def _answers(library: Library, task: str) -> list[str]:
    """Objective of the three answers on the whole set, by method."""
    lines = [
        "Objective on the whole evaluation set, mean over replications ± half the 95 % interval:",
        "",
        (
            f"| method | n | {' | '.join(f'`{name}`' for name in ANSWERS)} | lowest noisy value, as"
            " it seemed |"
        ),
        "|---|---:|---:|---:|---:|---:|",
    ]
    for method, runs in runs_of(library, task).items():
        cells = [_mean(list(finals(library, task, method, answer).values())) for answer in ANSWERS]
        seemed = _mean([min(run["trace"]["y"]) for run in runs.values()])
        lines.append(f"| {METHODS[method].label} | {len(runs)} | {' | '.join(cells)} | {seemed} |")
    return lines


def _tests(library: Library, task: str) -> list[str]:
    """Corrected EI against each other method, replication by replication."""
    others = [method for method in runs_of(library, task) if method != "corrected-ei"]
    ours = finals(library, task, "corrected-ei", "best")
    if len(ours) < FEWEST_FOR_TESTS or not others:
        return [
            f"With n = {len(ours)} there is no test: Wilcoxon's needs {FEWEST_FOR_TESTS} pairs or"
            " more."
        ]
    lines = [
        (
            "Corrected EI against the others, paired by seed: replications in which it is better /"
            " worse, Wilcoxon's two-sided signed-rank p (exact), and Holm's over the column:"
        ),
        "",
        f"| against | {' | '.join(f'`{answer}` | p | Holm' for answer in ANSWERS)} |",
        "|---|" + "---:|---:|---:|" * len(ANSWERS),
    ]
    columns = []
    for answer in ANSWERS:
        ours = finals(library, task, "corrected-ei", answer)
        tests = [compare_by_seed(ours, finals(library, task, method, answer)) for method in others]
        columns.append(list(zip(tests, holm([test.p for test in tests]), strict=True)))
    for row, method in enumerate(others):
        cells = [
            f"{test.below} / {test.above} | {test.p:.3f} | {p:.3f}"
            for test, p in (c[row] for c in columns)
        ]
        lines.append(f"| {METHODS[method].label} | {' | '.join(cells)} |")
    return lines


def _variants(library: Library, task: str) -> list[str]:
    """Corrected EI with another fit, or told something else of the noise."""
    usual = runs_of(library, task).get("corrected-ei", {})
    lines = []
    for words, method, noise in VARIANTS:
        runs = {
            seed: run
            for seed, run in library.runs(setting(task, method, noise)).items()
            if seed in usual
        }
        if not runs:
            continue
        cells = []
        for answer in ("recommended", "best"):
            ours, theirs = (
                {s: float(r["final"][answer]["objective"]) for s, r in each.items()}
                for each in (runs, usual)
            )
            test = compare_by_seed(ours, theirs)
            p = f"{test.p:.3f}" if test.n >= FEWEST_FOR_TESTS else "–"
            cells.append(f"{_mean(list(ours.values()))} | {test.below} / {test.above} | {p}")
        crowds = np.median([crowd(run) for run in runs.values()])
        lines.append(f"| {words} | {len(runs)} | {' | '.join(cells)} | {crowds:g} |")
    if not lines:
        return []
    return [
        (
            "Corrected EI fitted or told otherwise, against corrected EI of the tables on the same"
            " seeds (better / worse, Wilcoxon's p), with the median of the evaluations at one"
            " place:"
        ),
        "",
        "| | n | `recommended` | better / worse | p | `best` | better / worse | p | at one place |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
        *lines,
        "",
    ]


def _networks(library: Library, task: str) -> list[str]:
    """The recommended and the best networks themselves."""
    lines = [
        "The networks behind these numbers, means over replications:",
        "",
        (
            "| method | error of `recommended` | size ratio | of the whole network | error of"
            " `best` | size ratio | of the whole network |"
        ),
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    names = ("error", "size_ratio", "network_ratio")
    for method, runs in runs_of(library, task).items():
        cells = [
            f"{mean_of(runs, answer, name):.4f}"
            for answer in ("recommended", "best")
            for name in names
        ]
        lines.append(f"| {METHODS[method].label} | {' | '.join(cells)} |")
    return lines


def _sentences(library: Library, task: str) -> list[str]:
    """What the tables say, in words."""
    runs = runs_of(library, task)
    gaps = ", ".join(
        f"{METHODS[method].label} {optimism(each):.3f}" for method, each in runs.items()
    )
    said = [
        "How much the lowest noisy value promised too much: on the whole set the same network is"
        f" worse by (mean over replications) {gaps}."
    ]
    if "corrected-ei" in runs and "random" in runs:
        ours = finals(library, task, "corrected-ei", "recommended")
        tests = [
            (words, compare_by_seed(ours, finals(library, task, "random", answer)))
            for answer, words in RANDOM_ANSWERS
        ]
        counts = ", ".join(f"{words} in {test.below} of {test.n}" for words, test in tests)
        said.append(
            "Replications in which corrected EI's recommended network beats random search's:"
            f" {counts}."
        )
    said.append(_spent([run["run"] for each in runs.values() for run in each.values()]))
    return [" ".join(said)]


def _spent(times: Sequence[Mapping[str, float]]) -> str:
    """Seconds per replication: of the wall clock, and of the processor where it was recorded."""

    def mean(name: str) -> float:
        return float(np.mean([each[name] for each in times if name in each]))

    said = (
        f"On average a replication spent {mean('suggest'):.1f} s on suggestions and"
        f" {mean('evaluate'):.1f} s on"
    )
    if not any("suggest_cpu" in each for each in times):
        return f"{said} evaluations."
    processor = [each for each in times if "suggest_cpu" in each]
    most = max(each["suggest_cpu"] + each["evaluate_cpu"] for each in processor)
    return (
        f"{said} evaluations, on a machine busy with other work; of the processor's time"
        f" ({len(processor)} replications) {mean('suggest_cpu'):.1f} s and"
        f" {mean('evaluate_cpu'):.1f} s, at most {most:.1f} s together."
    )


def _crowds(library: Library, task: str) -> list[str]:
    """Where the evaluations went, and what corrected EI would learn from the next one."""
    runs = runs_of(library, task)
    searching = {method: each for method, each in runs.items() if method != "random"}
    if not searching:
        return []
    steps = max(run["cell"]["steps"] for each in runs.values() for run in each.values())
    lines = [
        (
            f"Where the {steps} evaluations after the random design went: the most of them that lie"
            f" within {NEAR:g} of one of them in every coordinate of the box (scaled to 0..1), by"
            " replication, sorted:"
        ),
        "",
        "| method | evaluations at one place | median |",
        "|---|---|---:|",
    ]
    for method, each in searching.items():
        counts = sorted(crowd(run) for run in each.values())
        lines.append(
            f"| {METHODS[method].label} | {', '.join(map(str, counts))} | {np.median(counts):g} |"
        )
    if "corrected-ei" in searching:
        lines += [
            "",
            *_stalls({seed: stall(run) for seed, run in searching["corrected-ei"].items()}),
        ]
    return lines


def _stalls(found: Mapping[int, Stall]) -> list[str]:
    """Corrected EI at the end of each replication."""
    lines = [
        (
            "Corrected EI at the end of each replication, from the model fitted again: evaluations"
            " so far at the place x where it would measure next and at its incumbent x⁺, what is"
            " not known of f there (standard deviations), and its value α(x) now, after one more"
            " measurement at x, and after one more at x⁺ instead:"
        ),
        "",
        "| seed | at x | at x⁺ | std at x | std at x⁺ | α(x) | after x | after x⁺ |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for seed, end in found.items():
        values = (end.std_next, end.std_best, end.value, end.after_next, end.after_best)
        lines.append(
            f"| {seed} | {end.crowd} | {end.at_best} |"
            f" {' | '.join(f'{value:.5f}' for value in values)} |"
        )
    return lines


def write_page(found: Read, out: Path, pictures: Path) -> None:
    """Writes the figures of the records into the folder `pictures`, and the page to `out`."""
    library = Library(record for record in found.done if record["cell"]["kind"] == "compression")
    figures = write_figures(library, pictures)
    failed = [record for record in found.failed if record["cell"]["kind"] == "compression"]
    notes = [*found.notes, *(f"{record['key']} failed: {record['error']}" for record in failed)]
    link = os.path.relpath(pictures, out.parent)
    out.write_text(page(library, figures, Path(link).as_posix(), notes), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("records", type=Path, help="folder of records")
    about = f"folder for {NAME} and, in {PICTURES}, its figures"
    parser.add_argument("--docs", type=Path, default=Path("docs"), help=about)
    given = parser.parse_args(arguments)
    found, out = read(given.records), given.docs / NAME
    write_page(found, out, given.docs / PICTURES)
    print(f"{out}: {len(found.done)} records, {len(found.failed)} failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
