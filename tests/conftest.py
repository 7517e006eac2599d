"""Settings of the whole suite, and a browser."""

import shutil
import signal
from collections.abc import Iterator
from typing import Any

import pytest
import scipy.linalg  # noqa: F401 - loads SciPy's BLAS, so that the limit below reaches it
from hypothesis import settings
from threadpoolctl import threadpool_limits

# In the background of a shell the interrupt is ignored, here and in all children, which the tests
# interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Property tests draw the same examples every time, so a failure can be repeated.
settings.register_profile("ceibo", derandomize=True, database=None, deadline=None)
settings.load_profile("ceibo")


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
