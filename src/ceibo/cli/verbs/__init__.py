"""The verbs of `ceibo`, one file each."""
