"""Scripts of the repository, in neither distribution: `python -m tools.NAME`."""
