"""Optuna's own public test-suite for samplers, against CeiboSampler.

Left out is SingleOnlySamplerTestCase: it asks that a sampler refuse several objectives.
"""

from collections.abc import Callable, Iterator

import optuna
import pytest
from optuna.samplers import BaseSampler
from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    MultiObjectiveSamplerTestCase,
    RelativeSamplerTestCase,
)

from ceibo.integrations.optuna import CeiboSampler


class TestCeiboSampler(
    BasicSamplerTestCase, RelativeSamplerTestCase, MultiObjectiveSamplerTestCase
):
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return lambda: CeiboSampler(seed=0, n_startup_trials=2, warn_independent_sampling=False)

    @pytest.fixture(autouse=True)
    def _quiet(self) -> Iterator[None]:
        level = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        yield
        optuna.logging.set_verbosity(level)
