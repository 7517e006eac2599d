"""Runs one command and ends all its processes.

It is a process of its own and uses the standard library alone. The parent writes one line of JSON
to standard input, {"argv", "env", "cwd", "timeout", "keep"}, and keeps it open. When standard input
ends, also because the parent was killed, the command is ended. The answer is one line of JSON on
standard output: how the command ended, the last `keep` bytes of its output, and whether that is
all of it ("whole") to its very end ("read").

On Linux this process adopts every descendant of the command and ends them all. Elsewhere one that
left the process group and whose parent has ended is not found.
"""

import base64
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, final

GRACE = 0.5  # seconds between asking to end (SIGTERM) and ending (SIGKILL)
KILLING = 1.0  # seconds within which everything has to be gone
READING = 5.0  # seconds within which what was printed has to be read
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_CHUNK = 1 << 17


@final
class Tail(threading.Thread):
    """Reads a pipe to its end and keeps the last bytes."""

    def __init__(self, descriptor: int, keep: int) -> None:
        super().__init__(daemon=True)
        self.descriptor, self.keep = descriptor, keep
        self.kept, self.total = b"", 0
        self.start()

    def run(self) -> None:
        while chunk := os.read(self.descriptor, _CHUNK):
            self.total += len(chunk)
            before = b"" if len(chunk) >= self.keep else self.kept
            self.kept = (before + chunk)[-self.keep :]

    def finish(self) -> bool:
        """Waits until all that was printed is read; false if that takes too long."""
        deadline = time.monotonic() + READING
        while self.is_alive() and time.monotonic() < deadline:
            self.join(0.2)
            if self.is_alive() and not select.select([self.descriptor], [], [], 0)[0]:
                return True  # a process that was not found holds the pipe open, but it is empty
        return not self.is_alive()


@final
class Ending:
    """The first of: the command ended, its time is up, the parent went away."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self.lock = threading.Lock()
        self.why = "timeout"
        self.status: int | None = None

    def settle(self, why: str) -> None:
        with self.lock:
            if not self.event.is_set():
                self.why = why
                self.event.set()


def process_table() -> dict[int, tuple[int, int, str]]:
    """pid -> (parent, group, state) of every process."""
    if not os.path.isdir("/proc/self"):
        command = ["ps", "-axo", "pid=,ppid=,pgid=,stat="]
        output = subprocess.run(command, capture_output=True, text=True).stdout
        rows = [line.split() for line in output.splitlines()]
        rows = [row for row in rows if len(row) >= 4]
        return {int(row[0]): (int(row[1]), int(row[2]), row[3][:1]) for row in rows}
    table = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue  # it has just ended
            table[int(name)] = (int(fields[1]), int(fields[2]), fields[0].decode())
    return table


def family(child: int) -> set[int]:
    """The living descendants of this process, and those in the command's group."""
    table = process_table()
    found = {os.getpid()}
    while True:
        more = {pid for pid, (parent, _, _) in table.items() if parent in found} - found
        if not more:
            break
        found |= more
    found |= {pid for pid, (_, group, _) in table.items() if group == child}
    return {pid for pid in found - {os.getpid()} if pid in table and table[pid][2] != "Z"}


def send(pids: set[int], number: int) -> None:
    for pid in pids:
        with suppress(OSError):  # it has ended, or belongs to another user
            os.kill(pid, number)


def end_all(child: int, gently: bool) -> int:
    """Ends the whole family; returns how many could not be ended."""
    if gently:
        send(family(child), signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        while family(child) and time.monotonic() < deadline:
            time.sleep(0.02)
    deadline = time.monotonic() + KILLING
    while (alive := family(child)) and time.monotonic() < deadline:
        stopped: set[int] = set()
        # A stopped process cannot fork while the others are being killed.
        while alive - stopped and time.monotonic() < deadline:
            send(alive - stopped, signal.SIGSTOP)
            stopped |= alive
            alive = family(child)
        send(stopped | alive, signal.SIGKILL)
        time.sleep(0.005)
    return len(family(child))


def prctl() -> Callable[..., Any] | None:
    if not sys.platform.startswith("linux"):
        return None
    return ctypes.CDLL(None, use_errno=True).prctl


def reap(child: int, ending: Ending) -> None:
    """Collects the status of the command and of the descendants adopted from it."""
    while True:
        try:
            pid, status = os.waitpid(-1, 0)
        except ChildProcessError:
            return
        if pid == child:
            ending.status = os.waitstatus_to_exitcode(status)
            ending.settle("exit")


def watch_parent(ending: Ending) -> None:
    while os.read(0, 4096):
        pass
    ending.settle("stopped")


def supervise(job: dict[str, Any]) -> dict[str, Any]:
    control = prctl()
    if control is not None:
        control(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def die_with_me() -> None:
        if control is not None:
            control(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    try:
        process = subprocess.Popen(
            job["argv"],
            cwd=job["cwd"],
            env={**os.environ, **job["env"]},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=die_with_me,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return {"why": "missing", "message": reason}
    ending = Ending()
    signal.signal(signal.SIGTERM, lambda *_: ending.settle("stopped"))
    assert process.stdout is not None
    assert process.stderr is not None
    tails = [Tail(pipe.fileno(), job["keep"]) for pipe in (process.stdout, process.stderr)]
    threading.Thread(target=reap, args=(process.pid, ending), daemon=True).start()
    threading.Thread(target=watch_parent, args=(ending,), daemon=True).start()
    limit = job["timeout"]
    ending.event.wait(None if limit is None else min(limit, threading.TIMEOUT_MAX))
    ending.settle("timeout")
    left = end_all(process.pid, gently=ending.why != "exit")
    read = [tail.finish() for tail in tails]
    process.returncode = 0  # reaped above
    return {
        "why": ending.why,
        "status": ending.status,
        "left": left,
        "stdout": base64.b64encode(tails[0].kept).decode(),
        "stderr": base64.b64encode(tails[1].kept).decode(),
        "whole": tails[0].total <= job["keep"],
        "read": read[0],
    }


def main() -> None:
    line = b""
    while not line.endswith(b"\n"):
        chunk = os.read(0, 1 << 16)
        if not chunk:
            return
        line += chunk
    answer = json.dumps(supervise(json.loads(line))).encode() + b"\n"
    while answer:
        try:
            answer = answer[os.write(1, answer) :]
        except OSError:
            break  # the parent is gone
    os._exit(0)


if __name__ == "__main__":
    main()
