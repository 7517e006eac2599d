"""Settings of the whole suite, what is left out where packages are missing, and a browser."""

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import scipy.linalg  # noqa: F401 - loads SciPy's BLAS, so that the limit below reaches it
from hypothesis import settings
from threadpoolctl import threadpool_limits

from tests import extras

# In the background of a shell the interrupt is ignored, and under nohup the hangup too, here and in
# all children, to which the tests send both.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Property tests draw the same examples every time, so a failure can be repeated.
settings.register_profile("ceibo", derandomize=True, database=None, deadline=None)
settings.load_profile("ceibo")


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "leave out, and name, the tests of packages that are not installed (tests/extras.py)"
    parser.addoption(extras.OPTION, action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*packages): packages that only this test imports")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if config.getoption(extras.OPTION) and extras.missing_for(collection_path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items if config.getoption(extras.OPTION) else ():
        if missing := extras.missing_for_item(item):
            item.add_marker(pytest.mark.skip(reason=extras.advice(missing)))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if config.getoption(extras.OPTION):
        terminalreporter.section("left out")
        chosen = [Path(name.partition("::")[0]).resolve() for name in config.args]
        for file, missing in extras.left_out(Path(__file__).parent):
            if any(file.is_relative_to(place) for place in chosen):
                name = file.relative_to(extras.ROOT).as_posix()
                terminalreporter.write_line(f"{name}: {extras.advice(missing)}")


@pytest.fixture(scope="session", autouse=True)
def _one_blas_thread() -> Iterator[None]:
    """Several test processes with several BLAS threads each wait for one another; tests of threads
    set their own.
    """
    with threadpool_limits(1, "blas"):
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real one: Debian's chromium, driven by Playwright. Without it the tests report themselves
    as not run.
    """
    chromium = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    if chromium is None:
        pytest.skip("not run: there is no Chromium; install one (Debian: apt-get install chromium)")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="not run: pip install playwright"
    )
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()
