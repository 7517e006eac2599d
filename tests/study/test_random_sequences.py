"""Random sequences of everything a study does; 2,000 of them run with `make soak`."""

from soak.machine import run_sequences


def test_sixty_sequences_keep_every_invariant() -> None:
    run_sequences(60)
