"""What a browser shows that does not know the token of the page: how to come in, and no more."""

import base64
import hashlib
from importlib.resources import files
from typing import Final

from starlette.responses import HTMLResponse
from starlette.types import Scope

from ceibo.report.svg import text_of

_PLACES: Final = ("/", "/report")


def is_visit(scope: Scope) -> bool:
    """Whether a person opens a page, other than a script that asks for a part of it."""
    return scope["method"] in ("GET", "HEAD") and scope["path"] in _PLACES


def refused_page(status: int, why: str) -> HTMLResponse:
    """A page that says why nothing is shown, in the style of the others, which it brings."""
    style = files("ceibo.report").joinpath("page.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none';"
        " form-action 'none'; frame-ancestors 'none'"
    )
    said = text_of(why[:1].upper() + why[1:], 400)
    text = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>ceibo</title><style>{style}</style></head><body>'
        '<main><header><h1>This page is closed</h1></header><section class="panel">'
        f"<p>{said}</p><p>Each start of the server prints a new link; an older one, or the address"
        " alone, does not open the page. What was typed on the card of a trial under way and"
        " not yet sent is kept in this browser, and is there again under the new link.</p>"
        "</section></main></body></html>\n"
    )
    return HTMLResponse(text, status, {"Content-Security-Policy": policy})
