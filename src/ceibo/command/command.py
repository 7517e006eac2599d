"""The command of a study as an objective: runs it, reads its result, leaves no process behind."""

import base64
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, final

from ceibo.command import supervisor
from ceibo.command.outcome import LONGEST, parse
from ceibo.command.outcomes import Results, parse_outcomes
from ceibo.command.placeholders import PREFIX, Template
from ceibo.decide import Measurement, Outcomes
from ceibo.decide.space import Params
from ceibo.errors import CommandFailedError, InputError

REPEATS: Final = f"{PREFIX}REPEATS"
"""The variable of the environment that says how many values are wanted."""
_SHOWN: Final = 2000  # characters of output kept with a failed trial, of each stream
# Seconds within which a supervisor has to end by itself.
_PATIENCE: Final = supervisor.GRACE + supervisor.KILLING + supervisor.READING + 3.0


@final
class Command:
    """An objective that runs a command with the parameters and returns what it measured.

    `repeats`, if given, says how many values are wanted of the trial that is being evaluated; the
    command finds it in its environment.
    """

    def __init__(
        self,
        template: Template,
        outcomes: Outcomes | None = None,
        repeats: Callable[[], int] | None = None,
    ) -> None:
        if sys.platform == "win32":
            raise InputError(
                "`ceibo run` needs Linux or macOS; on Windows use `ceibo ask` and `ceibo tell`."
            )
        self.template = template
        self.outcomes = outcomes
        self.repeats = repeats
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def __call__(self, params: Params) -> Measurement | Results:
        """What the command measured, by the end of its output, or a CommandFailedError."""
        answer = self._run(params)
        output = _decode(answer.get("stdout", ""))
        errors = _decode(answer.get("stderr", ""))
        problem = _problem(answer, self.template)
        if problem is None:
            try:
                if self.outcomes is not None:
                    return parse_outcomes(output, self.outcomes, whole=answer["whole"])
                measurement = parse(output, whole=answer["whole"])
                if measurement.is_finite:
                    return measurement
                problem = f"the result is {measurement.value!r}, which is not finite"
            except InputError as error:
                problem = str(error).rstrip(".")
        raise CommandFailedError(_message(problem, output, errors))

    def stop(self) -> None:
        """Ends every command that runs, and starts no more; returns when they are gone."""
        with self._lock:
            self._stopped = True
            running = list(self._running)
        for process in running:
            _close(process)
        for process in running:
            _wait(process)

    def _run(self, params: Params) -> dict[str, Any]:
        template = self.template
        wanted = {} if self.repeats is None else {REPEATS: str(self.repeats())}
        job = {
            "argv": template.arguments(params),
            "env": wanted | template.environment(params),
            "cwd": str(template.folder),
            "timeout": template.timeout,
            "keep": LONGEST,
        }
        with self._lock:
            if self._stopped:
                raise CommandFailedError("the run was stopped.")
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(Path(supervisor.__file__))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            self._running.add(process)
        try:
            return _converse(process, job)
        finally:
            _close(process)
            _wait(process)
            if process.stdout is not None:
                process.stdout.close()
            with self._lock:
                self._running.discard(process)


@final
class CommandExecutor(Executor):
    """Runs each evaluation in a thread of its own; cancelling one ends all commands."""

    def __init__(self, command: Command) -> None:
        self._command = command

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Starts at once: the caller decides how many run at a time."""
        future = _Stoppable(self._command)

        def work() -> None:
            try:
                future.set_result(function(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=work, name="ceibo-command", daemon=True).start()
        return future


@final
class _Stoppable(Future[Any]):
    """A future whose cancellation ends all commands, so that none outlives the run."""

    def __init__(self, command: Command) -> None:
        super().__init__()
        self._command = command

    def cancel(self) -> bool:
        self._command.stop()
        with suppress(BaseException):  # what has been printed is still read
            self.exception(timeout=1.0)
        return False


def _converse(process: subprocess.Popen[bytes], job: dict[str, Any]) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError):  # the missing answer is reported below
        process.stdin.write(json.dumps(job).encode() + b"\n")
        process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        return {"why": "lost"}
    answer: dict[str, Any] = json.loads(line)
    return answer


def _close(process: subprocess.Popen[bytes]) -> None:
    """Ends the supervisor's input, which tells it to stop."""
    if process.stdin is not None and not process.stdin.closed:
        with suppress(OSError):
            process.stdin.close()


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()  # the command dies with it
        process.wait()


def _problem(answer: dict[str, Any], template: Template) -> str | None:
    """What went wrong before there was a result, or None."""
    match answer["why"]:
        case "missing":
            return f"the command could not be started: {answer['message']}"
        case "timeout":
            return f"it was ended after its time limit, {template.timeout:g} s"
        case "stopped":
            return "the run was stopped"
        case "lost":
            return "the process that watches over the command was killed"
    status = answer["status"]
    if status is None:
        return "it ended without a status"
    if status < 0:
        return f"it was ended by signal {-status}"
    if status:
        return f"exit status {status}"
    return None if answer["read"] else "what it printed could not be read to its end in time"


def _decode(encoded: str) -> str:
    return base64.b64decode(encoded).decode("utf-8", "backslashreplace")


def _message(problem: str, output: str, errors: str) -> str:
    parts = [problem + "."]
    for name, text in (("standard error", errors), ("standard output", output)):
        if kept := text.strip()[-_SHOWN:]:
            parts.append(f"last {name}:\n{kept}")
    return "\n".join(parts)
