"""Random spaces with rules: the known setting obeys, texts mean what the data say, faults show."""

import numpy as np
import pytest

from soak.inputs import judge
from soak.ruled_spaces import FAMILIES, LARGEST, MOST_RULES, SMALLEST, THIN, random_space

SEEDS = range(25)


@pytest.mark.parametrize("seed", SEEDS)
def test_texts_mean_what_the_data_say(seed: int) -> None:
    ruled = random_space(seed)
    space = ruled.build()
    assert ruled.fault(ruled.witness, 1e-12) is None
    assert all(rule.holds(ruled.witness) for rule in space.rules)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        params = space.from_unit(rng.random(len(space)))
        for data, rule in zip(ruled.rules, space.rules, strict=True):
            broken = data.excess(params) / data.scale(ruled.widths)
            assert rule.holds(params) == (broken <= 1e-9)


def test_spaces_are_of_every_kind() -> None:
    spaces = [random_space(seed) for seed in range(100)]
    assert {each.family for each in spaces} == set(FAMILIES)
    assert all(SMALLEST <= len(each.dimensions) <= LARGEST for each in spaces)
    assert all(1 <= len(each.rules) <= MOST_RULES for each in spaces)
    assert max(len(each.rules) for each in spaces) == MOST_RULES
    assert {type(rule).__name__ for each in spaces for rule in each.rules} == {
        "Total",
        "Few",
        "Forbidden",
    }


def test_a_fault_is_seen() -> None:
    ruled = random_space(0, "mixture")
    part = next(iter(ruled.rules[0].weights))  # type: ignore[union-attr]  # a mixture's sum comes first
    moved = {**ruled.witness, part: ruled.witness[part] + 1e-6}
    assert "is broken by" in str(ruled.fault(moved))
    assert "no value" in str(ruled.fault({**ruled.witness, part: 2.0}))
    assert "parameters are" in str(ruled.fault({}))


def test_thin_bands_are_thin() -> None:
    ruled = random_space(0, "thin")
    upper, lower = ruled.rules[-2:] if len(ruled.rules) == 2 else ruled.rules[:2]
    width = upper.bound + lower.bound  # type: ignore[union-attr]  # a band is two sums
    assert width / upper.scale(ruled.widths) == pytest.approx(THIN, rel=1e-3)


@pytest.mark.parametrize("seed", [0, 6, 12, 13, 9])  # small ones, of each family
def test_suggestions_obey(seed: int) -> None:
    tally = judge(random_space(seed), seed, 12)
    assert tally.notes == []
    assert sum(tally.counts.values()) == 12
