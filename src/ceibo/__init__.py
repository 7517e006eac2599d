"""Bayesian optimisation of noisy, expensive processes."""

__version__ = "0.1.0"
