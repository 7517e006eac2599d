"""The panels of a report, one file each: a function from the facts of a study to HTML."""
