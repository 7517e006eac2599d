"""A shell command as an objective: placeholders, the process, what it printed."""
