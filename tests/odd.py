"""Odd studies, each made once for all tests that look at it."""

from functools import cache

import ceibo
from soak.odd_studies import STUDIES

QUICK = sorted(set(STUDIES) - {"many_trials"})  # without the one that takes seconds to draw


@cache
def odd_study(name: str) -> ceibo.Study:
    return STUDIES[name]()
