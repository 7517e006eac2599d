"""`python -m bench [--quick] [--only speed,quality,…]`: measures, and writes the results.

Written are RESULTS.md, results.json and the tables of docs/benchmarks.md.
"""

import argparse
import json
from typing import Any, Final

from bench import footprint, quality, scaling, speed, tables, threads
from bench.process import ROOT, describe_machine, progress

SECTIONS: Final = {
    "speed": speed.collect,
    "quality": quality.collect,
    "scaling": scaling.collect,
    "threads": threads.collect,
    "footprint": footprint.collect,
}
# A quick run does not overwrite the full results.
FULL_FOLDER, QUICK_FOLDER = "bench", "build/bench-quick"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measures ceibo beside BoTorch and Optuna."
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"small and rough, under two minutes, to {QUICK_FOLDER}/",
    )
    parser.add_argument(
        "--only", metavar="NAMES", default=",".join(SECTIONS), help=f"of {', '.join(SECTIONS)}"
    )
    options = parser.parse_args()
    wanted = options.only.split(",")
    unknown = sorted(set(wanted) - set(SECTIONS))
    if unknown:
        parser.error(
            f"--only takes names of {', '.join(SECTIONS)}, separated by commas; got"
            f" {', '.join(unknown)}"
        )
    folder = QUICK_FOLDER if options.quick else FULL_FOLDER
    (ROOT / folder).mkdir(parents=True, exist_ok=True)
    results = _earlier(folder) | {"machine": describe_machine()}
    for name in wanted:
        results[name] = SECTIONS[name](options.quick)
        # Written after each section, so that a run cut short keeps what it measured.
        (ROOT / folder / "results.json").write_text(
            json.dumps(results, indent=1) + "\n", encoding="utf-8"
        )
        text = tables.write(results, folder, pages=not options.quick)
    print(text)
    progress(f"written: {folder}/RESULTS.md, {folder}/results.json")


def _earlier(folder: str) -> dict[str, Any]:
    """Results of earlier runs: sections not measured now stay."""
    path = ROOT / folder / "results.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


if __name__ == "__main__":
    main()
