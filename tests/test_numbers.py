"""Numbers as people write and read them."""

from ceibo.numbers import with_uncertainty


def test_digits_follow_the_uncertainty() -> None:
    shown = {
        (71.5612, 4.0213): "71.6 ± 4.0",
        (0.12345, 0.0996): "0.12 ± 0.10",
        (0.12345, 0.00996): "0.123 ± 0.010",
        (123456.0, 1234.0): "123500 ± 1200",
        (-0.001, 0.5): "0.00 ± 0.50",
        (1.5, 0.0): "1.5 ± 0",
        (1.23456789e-12, 3.4e-13): "1.23457e-12 ± 3.4e-13",
        (4.0, 9.96): "4 ± 10",
    }
    assert {pair: with_uncertainty(*pair) for pair in shown} == shown


def test_a_large_mean_has_the_digits_that_its_uncertainty_is_about() -> None:
    assert with_uncertainty(1000000000.2537, 0.012) == "1000000000.254 ± 0.012"
    assert with_uncertainty(0.0010000015, 1e-12) == "0.0010000015 ± 1e-12"
    assert with_uncertainty(1.23456789e12, 3e5) == "1.23456789e+12 ± 3e+05"
