"""The page of a study with several outcomes: its facts and its panels, one file each."""
