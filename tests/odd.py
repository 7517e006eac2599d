"""Odd studies, each made once for all tests that look at it."""

from functools import cache

import ceibo
from soak.odd_studies import STUDIES

# Some of each kind that do not take seconds.
ODD = (
    *("nothing", "one_trial", "one_measured_many_failed", "batches", "replicates", "levels"),
    *("many_choices", "mixture", "log_ranges", "huge", "hostile_names", "half_told"),
    *("limited", "front_of_two"),
)


@cache
def odd_study(name: str) -> ceibo.Study:
    return STUDIES[name]()
