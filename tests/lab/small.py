"""Cells that take a moment."""

from ceibo_lab.record import Cell


def small_cells(
    seeds: int = 2, steps: int = 4, methods: tuple[str, ...] = ("corrected-ei", "ei")
) -> list[Cell]:
    """Short runs of Hartmann 3 under heteroscedastic noise."""
    listed = [(seed, method) for seed in range(seeds) for method in methods]
    return [
        Cell("optimise", "hartmann", "plain", "heteroscedastic", 0.1, m, seed, steps)
        for seed, m in listed
    ]
