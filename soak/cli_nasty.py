"""A program that behaves badly, for the checks of `ceibo run`.

python cli_nasty.py KIND [marker]
"""

import os
import signal
import sys
import time


def wait_for_ever() -> None:
    while True:
        time.sleep(1)


def detach() -> bool:
    """Becomes a daemon of another session; true in the daemon."""
    if os.fork():
        return False
    os.setsid()
    if os.fork():
        os._exit(0)
    return True


def main(kind: str) -> None:
    if kind == "ignores-sigterm":
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        wait_for_ever()
    elif kind == "grandchildren":
        for _ in range(3):
            if detach():
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                wait_for_ever()
        wait_for_ever()
    elif kind == "leaves-a-daemon":  # ends well, but something of it holds the pipe and lives on
        if detach():
            wait_for_ever()
        time.sleep(0.05)
        print(0.5)
    elif kind == "prints-1-GB":
        block = b"x" * (1 << 20)
        for _ in range(1024):
            os.write(1, block)
        os.write(1, b"\n0.25\n")
    elif kind == "prints-for-ever":
        block = b"0.1\n" * (1 << 16)
        while True:
            os.write(1, block)
    elif kind == "prints-binary":
        os.write(1, os.urandom(1 << 16))
        os.write(2, os.urandom(1 << 12))
        os.write(1, b"\n0.125 0.01\n")
    elif kind == "sleeps-for-ever":
        wait_for_ever()
    elif kind == "keeps-forking":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            if os.fork() == 0:
                os.setsid()
                time.sleep(0.2)
                os._exit(0)
            time.sleep(0.005)
            os.waitpid(-1, os.WNOHANG)
    else:
        raise SystemExit(f"unknown kind {kind!r}")


if __name__ == "__main__":
    main(sys.argv[1])
