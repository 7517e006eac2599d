"""Serving the page: a socket on this machine, a link with a token, an end by Ctrl-C."""

import hashlib
import os
import socket
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

import uvicorn

from ceibo.errors import InputError
from ceibo.study import Study
from ceibo.web.app import make_app
from ceibo.web.security import Gate, is_loopback, names_of
from ceibo.web.session import Session

_FIRST, _COUNT = 20_000, 10_000  # ports of which each study has a usual one
_PATIENCE: Final = 3  # seconds for answers under way when the server ends


@final
@dataclass(frozen=True)
class Served:
    """A bound socket and what is to be served on it; `link` opens the page."""

    session: Session
    gate: Gate
    listener: socket.socket
    host: str

    @property
    def link(self) -> str:
        shown = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        shown = f"[{shown}]" if ":" in shown else shown
        return f"http://{shown}:{self.gate.port}/?token={self.gate.token}"

    def server(self) -> uvicorn.Server:
        """What answers, once it is run; it ends when its `should_exit` is set."""
        config = uvicorn.Config(
            make_app(self.session, self.gate),
            log_level="warning",
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=_PATIENCE,
            ws="none",
        )
        return uvicorn.Server(config)

    def run(self, started: Callable[[], None] | None = None) -> None:
        """Answers until Ctrl-C; `started` is called in another thread when it does."""
        if started is not None:
            threading.Thread(target=started, daemon=True).start()
        try:
            self.server().run(sockets=[self.listener])
        except KeyboardInterrupt:  # the server has ended in order, and says so once more
            pass
        finally:
            self.listener.close()


def prepare(
    study: Study, *, host: str = "127.0.0.1", port: int | None = None, cost: float | None = None
) -> Served:
    """Binds a socket for the page of a study.

    Args:
        study: which the page shows and changes.
        host: the address to listen at; others than this machine's own let the network in.
        port: to listen at; by default the study's usual one, or another that is free.
        cost: the price of a measurement that the page begins with.
    """
    listener = _bind(host, _usual_port(study) if port is None else port, strictly=port is not None)
    bound = int(listener.getsockname()[1])
    gate = Gate(bound, names_of(host), open_to_network=not is_loopback(host))
    return Served(Session(study, cost), gate, listener, host)


def open_browser(link: str) -> None:
    """Opens the page in the usual browser, if there is one."""
    try:
        webbrowser.open(link)
    except (webbrowser.Error, OSError):  # the link is printed in any case
        return


def _usual_port(study: Study) -> int:
    """The port at which the page of a study usually is, so that a browser knows it again."""
    place = f"{study.ledger.store.url}\n{study.name}".encode()
    return _FIRST + int.from_bytes(hashlib.sha256(place).digest()[:4]) % _COUNT


def _bind(host: str, port: int, *, strictly: bool) -> socket.socket:
    """A listening socket at a port, or at any free one unless `strictly`."""
    for wanted in (port,) if strictly else (port, 0):
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(
                host, wanted, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
        except (OSError, UnicodeError) as error:
            raise InputError(f"--host: {host!r} is no address of this machine: {error}.") from error
        listener = socket.socket(family, kind, protocol)
        if os.name == "posix":  # elsewhere it would let two servers have one port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen(128)
        except OSError as error:
            listener.close()
            if strictly or not wanted:
                raise InputError(
                    f"cannot listen at {host}, port {port}: {error.strerror}; give another --port,"
                    " or leave it out for a free one."
                ) from error
            continue
        return listener
    raise AssertionError("the last port tried is free, or an error")  # pragma: no cover
