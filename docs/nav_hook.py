"""Puts pages into the navigation that may or may not be there: the paper's results, and the
integrations.

Links to files of the repository, which are no part of the site, become their text.
"""

import logging
import re
from pathlib import Path
from typing import Any

_REPOSITORY = re.compile(
    r"!?\[([^\]]+)\]\((?:\.\./)+(?:examples|results|src|tests|bench|soak|[A-Z]+\.md)[^)]*\)"
)


def _of_ours(record: logging.LogRecord) -> bool:
    """False for complaints about names of optional packages, which the reader of sources does not
    load.
    """
    return "Could not resolve alias ceibo.integrations" not in record.getMessage()


logging.getLogger("mkdocs.plugins.griffe").addFilter(_of_ours)


def on_config(config: Any) -> Any:
    """Called by mkdocs with its configuration."""
    docs = Path(config["docs_dir"])
    integrations = sorted(
        page.relative_to(docs).as_posix() for page in docs.glob("integrations/*.md")
    )
    place = next(index for index, entry in enumerate(config["nav"]) if "The mathematics" in entry)
    if integrations:
        config["nav"].insert(place, {"Integrations": integrations})
    for page, title in (
        ("default.md", "Why this default"),
        ("paper.md", "The paper's experiments"),
        ("compression.md", "Model compression"),
    ):
        if (docs / page).exists():
            config["nav"].insert(-2, {title: page})
    return config


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs with the text of each page."""
    return _REPOSITORY.sub(r"\1", markdown)
