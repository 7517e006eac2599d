"""Storage URLs: which database one names, and how it is shown without its secrets."""

import os
from urllib.parse import unquote

import sqlalchemy as sa

from ceibo.errors import InputError, show_value

# SQLAlchemy 2.0 leaves %-escapes in the name of a database, 2.1 reads them.
_READS_ESCAPES = sa.make_url("sqlite:///%25").database == "%"
_SECRETS = ("password", "passwd", "secret", "token")
_HIDDEN = "***"


def parse_url(url: str) -> sa.URL:
    """The database that a storage URL names; PostgreSQL is always spoken to with psycopg 3."""
    examples = "expected sqlite:///file.db or postgresql://user@host/database"
    if not isinstance(url, str):
        raise _no_text(url, examples)
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):
        hint = f"; did you mean sqlite:///{url}?" if "://" not in url and "\0" not in url else "."
        hint = hint if url else "; leave storage out (None) to work in memory."
        if "@" in url or _is_secret(url):
            raise InputError(f"{examples}, got a URL that cannot be read.") from None
        raise InputError(f"{examples}, got {url!r}{hint}") from None
    if parsed.database and not _READS_ESCAPES:
        parsed = parsed.set(database=unquote(parsed.database))
    backend = parsed.get_backend_name()
    if backend == "postgres":
        backend = "postgresql"
    if backend not in ("sqlite", "postgresql"):
        raise InputError(f"{examples}, got a URL for {backend!r}.")
    if backend == "sqlite":
        _check_sqlite(parsed, examples)
    return parsed.set(drivername="sqlite" if backend == "sqlite" else "postgresql+psycopg")


def show_url(url: sa.URL) -> str:
    """The URL without its password and without the secrets among its options."""
    query = {key: _HIDDEN if _is_secret(key) else value for key, value in url.query.items()}
    shown = url.set(query=query).render_as_string(hide_password=True)
    return shown.replace("%2A%2A%2A", _HIDDEN)


def hide_secrets(text: str, url: sa.URL) -> str:
    """A text, such as a driver's message, without the secrets of a URL."""
    found = [str(url.password)] if url.password else []
    for key, value in url.query.items():
        if _is_secret(key):
            found += [value] if isinstance(value, str) else value
    for secret in filter(None, found):
        text = text.replace(secret, _HIDDEN)
    return text


def _no_text(url: object, examples: str) -> InputError:
    """The error about what is no text, such as a path."""
    hint = f"; did you mean 'sqlite:///{url}'?" if isinstance(url, os.PathLike) else "."
    return InputError(f"{examples}, got {show_value(url)}{hint}")


def _is_secret(text: str) -> bool:
    return any(word in text.lower() for word in _SECRETS)


def _check_sqlite(url: sa.URL, examples: str) -> None:
    if "\0" in (url.database or ""):
        raise InputError(f"{examples}, got a file name with a NUL character.")
    if url.host is not None:  # what stands after two slashes
        path = "/".join(part for part in (url.host, url.database) if part)
        raise InputError(
            f"{examples}, with three slashes before a file's name, got two; try sqlite:///{path}."
        )
    # "sqlite:///" with the rest forgotten is no wish for memory
    if url.database == "":
        raise InputError(
            f"{examples}, got sqlite:/// without a file name; leave storage out to work in memory."
        )
