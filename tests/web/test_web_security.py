"""Requests that must not be answered are not, and every answer is sealed."""

import random
from typing import Any

import pytest

import ceibo
from ceibo.web.security import MOST_BYTES, Gate, is_loopback, names_of
from tests.web.web_tools import PORT, Caller

WRONG = {
    "host": [
        "evil.example",
        f"evil.example:{PORT}",
        "127.0.0.1",
        f"127.0.0.1:{PORT + 1}",
        f"127.0.0.1.evil.example:{PORT}",
        f"192.168.1.7:{PORT}",
        f"[::2]:{PORT}",
        "",
    ],
    "origin": [
        "null",
        "http://evil.example",
        f"https://127.0.0.1:{PORT}",
        f"http://127.0.0.1:{PORT + 1}",
        f"http://localhost:{PORT}",
        f"http://127.0.0.1:{PORT}.evil.example",
    ],
    "sec-fetch-site": ["cross-site", "same-site", "none", ""],
    "cookie": ["", f"ceibo-{PORT}=", f"ceibo-{PORT}=wrong", "ceibo-1=x", "=;=;\x01"],
    "x-ceibo-token": ["", "wrong", "é" * 20],
    "content-type": ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"],
}


@pytest.fixture
def caller() -> Caller:
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, name="sealed")
    study.ask()
    return Caller(study)


TELL = {"trial": 0, "attempt": 1, "values": [{"outcome": 0, "value": "1", "noise": ""}]}


def test_a_request_with_anything_wrong_is_refused(caller: Caller) -> None:
    rng = random.Random(7)
    names = list(WRONG)
    for _ in range(200):
        headers = dict(caller.usual)
        for name in rng.sample(names, rng.randint(1, 3)):
            if rng.random() < 0.15:
                headers.pop(name)
            else:
                headers[name] = rng.choice(WRONG[name])
        if "origin" not in headers and headers.get("sec-fetch-site") == "same-origin":
            headers["cookie"] = "none"  # a browser that says where it comes from needs no origin
        if set(headers) == set(caller.usual) - {"sec-fetch-site"}:
            headers["origin"] = "http://evil.example"
        body = b'{"trial":0,"attempt":1,"values":[{"outcome":0,"value":"1","noise":""}]}'
        answer = caller.call("POST", "/do/tell", headers, body)
        assert answer.status in (403, 415, 421), headers
    assert caller.post("/do/tell", TELL).status == 200


def test_nothing_is_shown_without_the_token(caller: Caller) -> None:
    host = {"host": f"127.0.0.1:{PORT}"}
    for path in ("/", "/static/main.js", "/part/next", "/report"):
        assert caller.call("GET", path, host).status == 403
        assert caller.call("GET", path, host, query="token=wrong").status == 403
    page = caller.call("GET", "/", host)
    assert page.headers["content-type"].startswith("text/html")
    assert "ceibo serve printed" in page.body
    assert "unsafe" not in page.headers["content-security-policy"]
    assert "sealed" not in page.body  # the name of the study
    assert caller.gate.token not in page.body
    assert caller.call("GET", "/part/next", host).headers["content-type"].startswith("text/plain")
    # the link opens the page, and only that
    link = f"token={caller.gate.token}"
    assert caller.call("GET", "/part/next", host, query=link).status == 403
    # also from a mail or a notebook, which is another site
    for site in ("none", "cross-site"):
        opened = caller.call("GET", "/", host | {"sec-fetch-site": site}, query=link)
        assert opened.status == 200
        cookie = opened.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
    assert caller.get("/").status == 200


def test_no_change_without_post(caller: Caller) -> None:
    assert caller.get("/do/ask").status == 405
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE"):
        assert caller.call(method, "/do/ask", caller.usual).status == 405


def test_every_answer_is_sealed(caller: Caller) -> None:
    refused = caller.call("GET", "/", {"host": "evil.example"})
    for answer in (caller.get("/"), caller.get("/part/next"), caller.post("/do/x", {}), refused):
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("said", [str(MOST_BYTES + 1), "-1", "x", "9" * 30, None])
def test_a_large_request_is_not_read(caller: Caller, said: Any) -> None:
    headers = caller.usual | ({} if said is None else {"content-length": said})
    body = b"{" + b" " * MOST_BYTES + b"}"
    assert caller.call("POST", "/do/tell", headers, body).status == 413


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"[" * 60_000, b"\xff\xfe", b'{"trial":NaN}'])
def test_what_is_no_request_is_said_to_be_none(caller: Caller, body: bytes) -> None:
    answer = caller.call("POST", "/do/tell", caller.usual, body)
    assert answer.status == 400
    assert answer.data["error"]


def test_a_network_is_let_in_by_addresses_and_the_machines_own_names_alone() -> None:
    gate = Gate(80, names_of("0.0.0.0"), open_to_network=True)
    assert gate.host_of("192.168.1.7") is not None
    assert gate.host_of("[fe80::1]:80") is not None
    assert gate.host_of("rebound.example:80") is None
    assert Gate(80, names_of("127.0.0.1")).host_of("192.168.1.7") is None
    assert [is_loopback(host) for host in ("127.0.0.2", "localhost", "0.0.0.0", "lab")] == [
        True,
        True,
        False,
        False,
    ]
