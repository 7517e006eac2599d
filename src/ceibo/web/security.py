"""Who may ask, and what every answer says to the browser.

A request is answered only if its Host is one of this server, so that no name of somebody else's
leads here; if it comes from the page itself and not from another site; and if it knows the token
of the link, which the browser keeps as a cookie after the first visit. What changes the study is a
POST of JSON with that token in a header too, which no form of another site can send.
"""

import ipaddress
import secrets
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Final, final
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ceibo.web.refused import is_visit, refused_page

MOST_BYTES: Final = 256 * 1024  # of a request's body
TOKEN_HEADER: Final = "x-ceibo-token"
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'"
    " data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_METHODS: Final = ("GET", "HEAD", "POST")


@final
@dataclass(frozen=True)
class Gate:
    """What a request must know and say to be let in.

    Args:
        port: of the server.
        names: of hosts that lead to it.
        open_to_network: whether any address of this machine does, too; a name still does not, as
            a name can be made to lead anywhere.
    """

    port: int
    names: tuple[str, ...] = ("127.0.0.1", "localhost", "::1")
    open_to_network: bool = False
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def cookie(self) -> str:
        """The name of the cookie; browsers do not tell ports apart."""
        return f"ceibo-{self.port}"

    def host_of(self, host: str) -> str | None:
        """The host that a Host header names, if it is one of this server's."""
        name, port = _split(host)
        if port != str(self.port) or not name:
            return None
        if name.lower() in self.names:
            return host.lower()
        return host.lower() if self.open_to_network and _is_address(name) else None

    def knows(self, token: str | None) -> bool:
        """Whether a token is the right one, in a time that does not tell how nearly."""
        given = (token or "").encode("utf-8", "replace")
        return secrets.compare_digest(given, self.token.encode())

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Why a request is not answered, with the status that says so; None if it is."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        host = self.host_of(hosts[0]) if len(hosts) == 1 else None
        if host is None:
            return 421, "this server is not reached by that name."
        if scope["method"] not in _METHODS:
            return 405, "only GET and POST are answered."
        link = self.knows(_token_in(scope)) and scope["path"] == "/"
        is_post = scope["method"] == "POST"
        if not _is_own(headers, host, strictly=is_post, link=link):
            return 403, "the request comes from another site."
        if is_post:
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                return 415, "a request that changes something must be JSON."
            if not self.knows(headers.get(TOKEN_HEADER)):
                return 403, "the request lacks the page's token; load the page again."
        if not link and not self.knows(_cookie(headers, self.cookie)):
            return 403, "open the link that ceibo serve printed; it has a token."
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length[:9]) > MOST_BYTES:
            return 413, f"a request has at most {MOST_BYTES} bytes."
        return None


@final
class Guard:
    """Lets a request through to the application if the gate does, and seals every answer."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self.app, self.gate = app, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # nothing else is offered
        refused = self.gate.refusal(scope)
        app = self.app
        if refused is not None:
            status, why = refused
            is_page = status == 403 and is_visit(scope)
            app = refused_page(status, why) if is_page else PlainTextResponse(why, status)
        is_link = refused is None and self.gate.knows(_token_in(scope))

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", POLICY)
                headers.update(_HEADERS)
                if is_link:
                    cookie = f"{self.gate.cookie}={self.gate.token}"
                    headers.append("Set-Cookie", f"{cookie}; Path=/; HttpOnly; SameSite=Strict")
            await send(message)

        await app(scope, _limited(receive), sealed)


def _limited(receive: Receive) -> Receive:
    """The body of a request, of which no more is read than is allowed."""
    read = 0

    async def limited() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > MOST_BYTES:
            return {"type": "http.disconnect"}
        return message

    return limited


def names_of(host: str) -> tuple[str, ...]:
    """The names by which a server bound to a host is reached: its own, and the machine's."""
    found = ["127.0.0.1", "localhost", "::1"]
    if not is_loopback(host):
        found += [host, socket.gethostname(), socket.getfqdn()]
    return tuple(dict.fromkeys(name.lower() for name in found))


def is_loopback(host: str) -> bool:
    """Whether a server bound to a host is reached from its own machine alone."""
    if host.lower() == "localhost":
        return True
    return _is_address(host) and ipaddress.ip_address(host).is_loopback


def _is_own(headers: Headers, host: str, *, strictly: bool, link: bool) -> bool:
    """Whether a request comes from the page, by what only a browser can say of it.

    A link with the token may be followed from anywhere. What changes something must say where it
    comes from.
    """
    origins, site = headers.getlist("origin"), headers.get("sec-fetch-site")
    if any(origin.lower() != f"http://{host}" for origin in origins):
        return False
    if site is not None:
        return site == "same-origin" or (not strictly and (site == "none" or link))
    return bool(origins) or not strictly


def _split(host: str) -> tuple[str, str]:
    """Name and port of a Host header; a port that is not given is 80."""
    if host.startswith("["):
        name, _, rest = host[1:].partition("]")
        return name, rest.removeprefix(":") or "80"
    name, _, port = host.partition(":")
    return name, port or "80"


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _token_in(scope: Scope) -> str | None:
    """The token of a link."""
    query = scope.get("query_string", b"").decode("latin-1")
    try:
        given: Iterable[str] = parse_qs(query, max_num_fields=8).get("token", ())
    except ValueError:
        return None
    return next(iter(given), None)


def _cookie(headers: Headers, name: str) -> str | None:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return None if found is None else found.value
