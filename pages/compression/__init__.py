"""Writer of docs/compression.md."""
