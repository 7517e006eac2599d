"""Measures and profit of a record made by hand."""

from typing import Any

import numpy as np
import pytest

from ceibo.errors import InputError
from ceibo_lab import measures

RECORD: dict[str, Any] = {
    "cell": {
        "kind": "optimise",
        "problem": "sphere",
        "variant": "plain",
        "protocol": "homoscedastic",
        "level": 0.1,
        "method": "ei",
        "seed": 0,
        "steps": 3,
    },
    "trace": {
        "regret": [100.0, 50.0, 10.0, 20.0, 1.0],  # two initial points, three steps
        "distance": [10.0, 7.0, 3.0, 4.0, 1.0],
        "best": [1, 2, 3, 2],
        "value": [30.0, 8.0, 9.0, 2.0],
        "reach": [0.1, 0.2, 0.6],
        "recommended": {"t": [0, 3], "regret": [40.0, 0.0], "distance": [6.0, 0.0]},
    },
}


def test_best_oracle_distance_and_recommended() -> None:
    np.testing.assert_allclose(measures.series(RECORD, "best"), np.log10([50.0, 10.0, 20.0, 10.0]))
    # After two initial points the oracle sees 50, then 10, 10, 1.
    np.testing.assert_allclose(measures.series(RECORD, "oracle"), np.log10([50.0, 10.0, 10.0, 1.0]))
    assert measures.series(RECORD, "distance").tolist() == [7.0, 3.0, 4.0, 3.0]
    assert measures.times(RECORD, "recommended").tolist() == [0, 3]
    # The second recommendation is exact: floored at 1e-12 of the range, 300.
    np.testing.assert_allclose(measures.series(RECORD, "recommended"), np.log10([40.0, 3e-10]))
    assert measures.reach(RECORD) == pytest.approx(0.3)
    assert measures.final_value(RECORD, "best") == pytest.approx(1.0)


def test_profit_by_hand() -> None:
    """κ = 8.5: the value is first below it at t = 1, where f(x⁺) = 10: profit −10 − 8.5."""
    found = measures.stop_at(RECORD, 8.5)
    assert (found.t, found.total, found.censored) == (1, 3, False)
    assert found.profit == pytest.approx(-18.5)


def test_one_value_below_is_enough_even_if_the_next_is_above() -> None:
    assert measures.stop_at(RECORD, 8.001).t == 1


def test_stopping_at_once_costs_nothing() -> None:
    found = measures.stop_at(RECORD, 31.0)
    assert (found.t, found.profit) == (0, -50.0)


def test_a_run_that_never_stops_is_censored_at_its_end() -> None:
    found = measures.stop_at(RECORD, 1.0)
    assert (found.t, found.censored) == (3, True)
    assert found.profit == pytest.approx(-10.0 - 3.0)


def test_unknown_measures_are_refused() -> None:
    with pytest.raises(InputError, match="best, recommended, oracle"):
        measures.series(RECORD, "luck")
