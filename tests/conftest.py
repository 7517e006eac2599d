"""Settings of the whole suite. Property tests draw the same examples every time, so a failure can be repeated."""

from hypothesis import settings

settings.register_profile("ceibo", derandomize=True, database=None, deadline=None)
settings.load_profile("ceibo")
