"""Model compression: ranks of factorized layers chosen under a noisy error."""
