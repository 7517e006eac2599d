"""A page under test: the application called directly, and a server in a thread."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import ceibo
from ceibo.web.app import make_app
from ceibo.web.security import Gate
from ceibo.web.server import Served, prepare
from ceibo.web.session import Session

PORT = 4321


@dataclass(frozen=True)
class Answer:
    """What the application answered."""

    status: int
    headers: Mapping[str, str]
    body: str

    @property
    def data(self) -> Any:
        return json.loads(self.body)


class Caller:
    """The application of a study, called as a server would call it."""

    def __init__(self, study: ceibo.Study) -> None:
        self.gate = Gate(PORT)
        self.app = make_app(Session(study), self.gate)

    @property
    def usual(self) -> dict[str, str]:
        """What the page's own requests say."""
        host = f"127.0.0.1:{PORT}"
        return {
            "host": host,
            "origin": f"http://{host}",
            "sec-fetch-site": "same-origin",
            "cookie": f"{self.gate.cookie}={self.gate.token}",
            "x-ceibo-token": self.gate.token,
            "content-type": "application/json",
        }

    def call(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"", query: str = ""
    ) -> Answer:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(k.encode("latin-1"), v.encode("latin-1")) for k, v in headers.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", PORT),
        }
        sent: list[Any] = []
        asked = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> Any:
            return next(asked, {"type": "http.disconnect"})

        async def send(message: Any) -> None:
            sent.append(message)

        async def answer() -> None:
            await self.app(scope, receive, send)

        asyncio.run(answer())
        begun = sent[0]
        found = {k.decode().lower(): v.decode() for k, v in begun["headers"]}
        whole = b"".join(message.get("body", b"") for message in sent[1:])
        return Answer(begun["status"], found, whole.decode())

    def post(self, path: str, data: Any) -> Answer:
        return self.call("POST", path, self.usual, json.dumps(data).encode())

    def get(self, path: str, query: str = "") -> Answer:
        return self.call("GET", path, self.usual, query=query)


@contextmanager
def serving(study: ceibo.Study) -> Iterator[Served]:
    """A real server of a study's page, in a thread."""
    served = prepare(study)
    server = served.server()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [served.listener]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield served
    finally:
        server.should_exit = True
        thread.join()
        served.listener.close()
