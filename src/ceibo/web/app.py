"""The addresses of the page. What touches the study runs in threads, off the event loop."""

import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any, Final, final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ceibo.errors import CeiboError, ConflictError, InputError, NoMeasurementError, StorageError
from ceibo.numbers import without_nan
from ceibo.web.actions import ACTIONS
from ceibo.web.security import Gate, Guard
from ceibo.web.session import Session
from ceibo.web.shell import page
from ceibo.web.views import PARTS, VIEWS, report_page

_STATIC: Final = {
    "page.css": "text/css",
    "main.js": "text/javascript",
    "api.js": "text/javascript",
    "forms.js": "text/javascript",
    "profiler.js": "text/javascript",
    "slices.js": "text/javascript",
    "table.js": "text/javascript",
}
_REPORT_STYLES: Final = (("page.css",), ("joint", "joint.css"), ("rules.css",), ("suspicion.css",))


def make_app(session: Session, gate: Gate) -> ASGIApp:
    """The application of a study's page, behind its gate."""
    pages = Pages(session, gate)
    routes = [
        Route("/", pages.whole),
        Route("/report", pages.report),
        Route("/static/{name}", pages.static),
        Route("/part/{name}", pages.part),
        Route("/view/{name}", pages.view, methods=["POST"]),
        Route("/do/{name}", pages.act, methods=["POST"]),
    ]
    return Guard(Starlette(routes=routes), gate)


@final
class Pages:
    """What is answered at each address."""

    def __init__(self, session: Session, gate: Gate) -> None:
        self.session, self.gate = session, gate

    async def whole(self, _: Request) -> Response:
        """The page itself."""
        space = await run_in_threadpool(self.session.reading.use, lambda study: study.space)
        return HTMLResponse(page(self.session, space, self.gate.token))

    async def static(self, request: Request) -> Response:
        """A style or a script, by its name in a list."""
        name = request.path_params["name"]
        if name == "report.css":
            folder = files("ceibo.report")
            styles = [folder.joinpath(*path).read_text("utf-8") for path in _REPORT_STYLES]
            return Response("".join(styles), media_type="text/css")
        if name not in _STATIC:
            return PlainTextResponse("there is no such file.", 404)
        text = files("ceibo.web").joinpath("static", name).read_text("utf-8")
        return Response(text, media_type=_STATIC[name])

    async def report(self, _: Request) -> Response:
        """The whole report, which brings a policy of its own."""
        text, policy = await run_in_threadpool(report_page, self.session)
        return HTMLResponse(text, headers={"Content-Security-Policy": policy})

    async def part(self, request: Request) -> Response:
        """A piece of the page as HTML, drawn from the study as it is now."""
        name, argument = request.path_params["name"], request.query_params.get("of", "")
        if name not in PARTS:
            return PlainTextResponse("there is no such part.", 404)
        return await _answered(lambda: HTMLResponse(PARTS[name](self.session, argument)))

    async def view(self, request: Request) -> Response:
        """Numbers that a page asks for by what it shows."""
        return await self._json(request, VIEWS)

    async def act(self, request: Request) -> Response:
        """What a form asks for."""
        actions = {
            name: lambda session, data, act=act: act(session, data)._asdict()
            for name, act in ACTIONS.items()
        }
        return await self._json(request, actions)

    async def _json(self, request: Request, known: Any) -> Response:
        work = known.get(request.path_params["name"])
        if work is None:
            return PlainTextResponse("there is no such address.", 404)
        try:
            data = json.loads(await request.body())
        except ClientDisconnect:
            return PlainTextResponse("the request is too large.", 413)
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            return _said(400, "expected a table as JSON.")
        return await _answered(lambda: _to_json(work(self.session, data)))


async def _answered(work: Callable[[], Response]) -> Response:
    """What a piece of work answers; errors of ceibo become sentences."""
    try:
        return await run_in_threadpool(work)
    except ConflictError as error:
        return _said(409, str(error))
    except (InputError, NoMeasurementError) as error:
        return _said(400, str(error))
    except StorageError as error:
        return _said(503, str(error))
    except CeiboError as error:
        return _said(500, str(error))


def _said(status: int, sentence: str) -> Response:
    return _to_json({"error": sentence[:1].upper() + sentence[1:]}, status)


def _to_json(data: Any, status: int = 200) -> Response:
    text = json.dumps(without_nan(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # a lone surrogate, which JSON may carry, has no bytes
    return Response(text.encode("utf-8", "replace"), status, media_type="application/json")
