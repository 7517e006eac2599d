"""The command line: one small file per verb."""

from ceibo.cli.app import main

__all__ = ["main"]
