"""Doors to other tools; each needs one optional package and is imported by its own name."""
