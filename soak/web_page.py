"""A person at the page of a live study: a server that can be killed, and what one does there."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

CEIBO: Final = (sys.executable, "-m", "ceibo")
_PATIENCE: Final = 60_000  # milliseconds for what the page is to do


class Server:
    """`ceibo serve` in a process of its own, at one port; of this environment unless told."""

    def __init__(
        self, storage: str, ceibo: Sequence[str] = (sys.executable, "-m", "ceibo")
    ) -> None:
        self.command = [*ceibo, "serve", storage, "--no-browser"]
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process: subprocess.Popen[str] | None = None
        self.link = ""
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [*self.command, "--port", str(self.port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout is not None
        self.link = self.process.stdout.readline().strip()
        if not self.link.startswith("http"):
            raise RuntimeError(f"the server said {self.link!r}")

    def end(self, how: signal.Signals) -> int:
        """Ends the server by a signal; returns its exit status."""
        assert self.process is not None
        self.process.send_signal(how)
        status = self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return status

    def kill(self) -> None:
        self.end(signal.SIGKILL)


@contextmanager
def running(storage: str) -> Iterator[Server]:
    """A server that is there for a while."""
    server = Server(storage)
    try:
        yield server
    finally:
        server.kill()


class Page:
    """A page of its own, as in a browser on another desk."""

    def __init__(self, browser: Any, link: str, **options: Any) -> None:
        options.setdefault("viewport", {"width": 1200, "height": 900})
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(_PATIENCE)
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._console)
        self.page.on("dialog", lambda dialog: self._dialog(dialog))
        self.open(link)

    def _console(self, message: Any) -> None:
        # a refused request is said in words on the page, and by the browser here
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.errors.append(message.text)

    def _dialog(self, dialog: Any) -> None:
        self.errors.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def open(self, link: str) -> None:
        self.page.goto(link)
        self.wait()

    def wait(self) -> None:
        """Until everything was drawn once."""
        self.page.wait_for_selector("html[data-drawn]")

    def faults(self) -> Iterator[str]:
        """What went wrong, and what axe finds serious."""
        yield from self.errors
        from axe_playwright_python.sync_playwright import Axe

        for each in Axe().run(self.page).response["violations"]:
            if each["impact"] in ("serious", "critical"):
                nodes = [node["html"][:120] for node in each["nodes"][:3]]
                yield f"axe: {each['id']} ({each['impact']}): {nodes}"

    # -- trials ------------------------------------------------------------------------

    def card(self, number: int) -> Any:
        return self.page.locator(f"#card-{number}")

    def ask(self, count: int) -> None:
        self.page.fill("#ask-count", str(count))
        with self.page.expect_response("**/do/ask") as answer:
            self.page.click('form[data-action="ask"] button[type="submit"]')
        for number in answer.value.json()["said"].partition(": ")[2].rstrip(".").split(", "):
            self.card(int(number)).wait_for()

    def unfold(self, number: int) -> None:
        """Opens the card of a trial, as all but the first are folded."""
        while self.card(number).locator("details.fold[open]").count() == 0:
            # the page may open it in the same moment, and then the press folds it
            self.card(number).locator("details.fold > summary").click()
            self.page.wait_for_timeout(50)

    def type_value(self, number: int, value: str) -> None:
        self.unfold(number)
        self.card(number).locator('input[name="value"]').first.fill(value)

    def send_without_waiting(self, number: int) -> None:
        self.unfold(number)
        self.card(number).locator("button.main").click(no_wait_after=True)

    def tell(self, number: int, value: str) -> None:
        self.type_value(number, value)
        self.send_without_waiting(number)
        self.card(number).wait_for(state="detached")

    def finish(self, number: int, value: str) -> None:
        """Goes on after the server was killed: what was typed is there, or was recorded."""
        if not self.card(number).count():
            return
        typed = self.card(number).locator('input[name="value"]').first.input_value()
        if typed != value:
            self.errors.append(f"trial {number}: {value} was typed, {typed!r} is left")
        self.send_without_waiting(number)
        self.card(number).wait_for(state="detached")

    def conflict(self, number: int) -> str:
        """What is said to a value that comes second."""
        self.card(number).locator(".stale").wait_for()
        self.send_without_waiting(number)
        said = self.card(number).locator(".said button")
        said.wait_for()
        return str(self.card(number).locator("form .said").first.inner_text())

    def keep_both(self, number: int) -> None:
        self.card(number).locator(".said button").click()
        self.card(number).wait_for(state="detached")

    def look_at(self, number: int) -> None:
        self.page.click(f"#open-{number}")
        self.page.wait_for_selector("dialog[open]")
        self.page.click("dialog form[method=dialog] button")

    def _in_dialog(self, number: int, action: str, fields: dict[str, str]) -> None:
        self.page.click(f"#open-{number}")
        form = self.page.locator(f'dialog[open] form[data-action="{action}"]').first
        form.locator("xpath=..").locator("summary").click()
        for name, text in fields.items():
            form.locator(f'input[name="{name}"]').fill(text)
        # not by the news, which what others do may replace at any moment
        with self.page.expect_response(f"**/do/{action}") as answer:
            form.locator("button").click()
        said = answer.value.json()
        if not answer.value.ok:
            self.errors.append(f"trial {number}: {action} was answered by {said['error']!r}")
        self.page.click("dialog form[method=dialog] button")

    def correct(self, number: int, value: str) -> None:
        self._in_dialog(number, "correct", {"value": value})

    def void(self, number: int, reason: str) -> None:
        self._in_dialog(number, "void", {"reason": reason})

    # -- pictures ----------------------------------------------------------------------

    def profile_everything(self) -> None:
        """Moves every control of the profiler and shows every map."""
        for control in self.page.locator("#slices select, #slices input[type=range]").all():
            control.focus()
            control.press("ArrowDown")
        for kind in range(self.page.locator("#map-kind option").count()):
            self.page.select_option("#map-kind", str(kind))
            self.page.wait_for_timeout(300)

    def slide(self, moves: int) -> tuple[list[float], list[float]]:
        """Milliseconds from each move of a slider to the new picture: updated, and painted."""
        drawn, painted = [], []
        sliders = self.page.locator("#slices input[type=range]")
        for move in range(moves):
            slider = sliders.nth(move % sliders.count())
            before = self.page.evaluate("document.getElementById('profiler').dataset.count ?? '0'")
            slider.focus()
            slider.press("ArrowLeft" if move % 3 else "ArrowRight")
            self.page.wait_for_function(
                "before => document.getElementById('profiler').dataset.count > Number(before)",
                arg=before,
            )
            data = self.page.evaluate("({...document.getElementById('profiler').dataset})")
            drawn.append(float(data["drawn"]))
            painted.append(float(data["painted"]))
            self.page.wait_for_timeout(60)
        return drawn, painted
