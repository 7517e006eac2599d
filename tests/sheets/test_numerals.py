"""Numbers as people write them in tables."""

from ceibo.sheets.numerals import Numbers


def test_a_unit_of_digits_cuts_nothing_off_a_number() -> None:
    """Of an outcome in units of 1, 71 was read as 7."""
    numbers = Numbers(";")
    assert numbers.read("71", "yield", unit="1") == 71
    assert numbers.read("7,1", "yield", unit="1") == 7.1
    assert numbers.read("71 mg", "yield", unit="mg") == 71
