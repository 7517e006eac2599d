"""Settings of the whole suite."""

from collections.abc import Iterator

import pytest
import scipy.linalg  # noqa: F401 - loads SciPy's BLAS, so that the limit below reaches it
from hypothesis import settings
from threadpoolctl import threadpool_limits

# Property tests draw the same examples every time, so a failure can be repeated.
settings.register_profile("ceibo", derandomize=True, database=None, deadline=None)
settings.load_profile("ceibo")


@pytest.fixture(scope="session", autouse=True)
def _one_blas_thread() -> Iterator[None]:
    """Several test processes with several BLAS threads each wait for one another; tests of threads set their own."""
    with threadpool_limits(1, "blas"):
        yield
