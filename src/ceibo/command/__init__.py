"""A shell command as an objective: its placeholders, its process, its result."""
