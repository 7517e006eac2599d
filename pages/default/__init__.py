"""Writer of docs/default.md."""
