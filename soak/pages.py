"""Opens the reports of thirty odd studies in Chromium, and measures the boxes of what it shows.

    python -m soak.pages                          all of them, in every size and theme
    python -m soak.pages batches --keep pages     one of them; pages and pictures are kept

Each is shown at 1200 and 390 px, light and dark, and printed: nothing may leave its frame, overlap
or break. Exits with 1 if something does. Needs Chromium and Playwright.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import ceibo
from ceibo.report import write_report
from soak.odd_studies import STUDIES

BOXES: Final = Path(__file__).with_name("boxes.js").read_text("utf-8")
PRINTED: Final = 695  # pixels between the margins of A4
# (how it is shown, width in pixels, options of a browser's context)
VIEWS: Final = (
    ("light", 1200, {"color_scheme": "light"}),
    ("dark", 1200, {"color_scheme": "dark"}),
    ("light", 390, {"color_scheme": "light"}),
    ("dark", 390, {"color_scheme": "dark"}),
    ("print", PRINTED, {"color_scheme": "dark"}),
)
# of every study, the price of a measurement, so that all panels are drawn
COST: Final = 0.01


def faults_of(
    browser: Any, study: ceibo.Study, path: Path, views: Any = VIEWS, pictures: bool = False
) -> Iterator[str]:
    """What is wrong with the page of a study, in every view."""
    write_report(study, path, cost=COST)
    for view, width, options in views:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        page = context.new_page()
        page.goto(path.as_uri())
        if view == "print":
            page.emulate_media(media="print")
        for fault in page.evaluate(BOXES):
            yield f"{view} at {width}: {fault}"
        if pictures:
            picture = path.with_name(f"{path.stem}-{view}-{width}.png")
            page.screenshot(path=picture, full_page=True)
        context.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="*", choices=[*STUDIES, []], help="names of studies")
    parser.add_argument("--keep", type=Path, help="folder in which pages and pictures are kept")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    folder = options.keep or Path(tempfile.mkdtemp(prefix="ceibo-pages-"))
    folder.mkdir(exist_ok=True)
    found = 0
    with sync_playwright() as driver:
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in options.studies or STUDIES:
            path = (folder / f"{name}.html").absolute()
            keep = options.keep is not None
            faults = list(faults_of(browser, STUDIES[name](), path, pictures=keep))
            found += len(faults)
            print(f"{name:28}{'ok' if not faults else f'{len(faults)} faults'}", flush=True)
            for fault in faults:
                print(f"    {fault}")
        browser.close()
    if options.keep is None:
        shutil.rmtree(folder)
    print(f"{found} faults" if found else "nothing leaves its frame, overlaps or breaks")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
