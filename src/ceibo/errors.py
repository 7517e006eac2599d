"""The exceptions ceibo raises on purpose; each message says what was expected, what came and what to try."""


class CeiboError(Exception):
    """Base of every error that ceibo raises on purpose."""


class InputError(CeiboError, ValueError):
    """An argument has the wrong shape, range or name."""
