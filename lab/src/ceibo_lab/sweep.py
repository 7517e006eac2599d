"""Many cells on many cores: resumable, the same results whatever the number of workers.

Each cell is a pure function of its data, so it does not matter who runs it, in which order or how
often it was begun. The sweep skips what the folder of records already holds, hands the rest to a
backend, and writes each record when it arrives. A process that is killed loses the cells under way
and nothing else.

Backends: `serial`; `processes`, the standard library's; `loky`, joblib's here; `dask`, joblib's on
a cluster, and `ray` (an address, or a cluster started on this machine).
"""

import importlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, final

from ceibo.errors import InputError
from ceibo_lab.arithmetic import present_since
from ceibo_lab.kinds.require import require
from ceibo_lab.optional import LAB, optional
from ceibo_lab.record import Cell, Record
from ceibo_lab.records import Writer, read
from ceibo_lab.replicate import replicate

# One BLAS or OpenMP thread per worker, set before the worker starts.
_ONE_THREAD: Final = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


@final
@dataclass(frozen=True)
class Options:
    """How a sweep is run; backend None is loky, or processes without joblib.

    With `renew` a cell whose records are all of an older arithmetic counts as not run.
    """

    backend: str | None = None
    jobs: int = 0
    time_limit: float | None = None
    address: str | None = None  # of a Dask scheduler or a Ray cluster
    renew: bool = False

    @property
    def workers(self) -> int:
        return self.jobs if self.jobs > 0 else os.cpu_count() or 1


@final
@dataclass(frozen=True)
class Summary:
    """What a sweep did: cells finished before and now, of those failed, left over."""

    before: int
    finished: int
    failed: int
    left: int
    seconds: float
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        parts = [
            f"{self.finished} cells finished in {self.seconds:.0f} s",
            f"{self.before} were there before",
        ]
        if self.failed:
            parts.append(f"{self.failed} failed (their records say why)")
        if self.left:
            parts.append(f"{self.left} left: the same command continues")
        return ", ".join(parts) + "."


Progress = Callable[[int, int, Record], None]  # finished now, to do, the latest record


def sweep(
    cells: Sequence[Cell], path: Path, options: Options, progress: Progress | None = None
) -> Summary:
    """Runs the cells that the folder of `path` does not hold, and appends their records."""
    backend = options.backend or ("loky" if find_spec("joblib") else "processes")
    if backend not in BACKENDS:
        raise InputError(f"backend must be one of {', '.join(BACKENDS)}, got {backend!r}.")
    since = time.monotonic()
    deadline = float("inf") if options.time_limit is None else time.time() + options.time_limit
    with Writer(path) as writer:
        present = read(path.parent)
        tried = present.tried
        todo = [cell for cell in cells if tried.get(cell.key, -1) < _oldest(cell, options)]
        finished = failed = 0
        if todo:
            # otherwise the cells run on other machines, which may have what is needed
            if options.address is None:
                require(todo)
            for record in BACKENDS[backend](_until(todo, deadline), deadline, options):
                if record is None:
                    continue
                writer.add(record)
                finished += 1
                failed += record["status"] == "failed"
                if progress is not None:
                    progress(finished, len(todo), record)
    notes = [*writer.notes, *present.notes]
    left = len(todo) - finished
    return Summary(len(cells) - len(todo), finished, failed, left, time.monotonic() - since, notes)


def _oldest(cell: Cell, options: Options) -> int:
    """The arithmetic from which on the record of a cell stands."""
    return present_since(cell.kind) if options.renew else 0


def _until(cells: Sequence[Cell], deadline: float) -> Iterator[Cell]:
    """Cells, until the time is over; taken from lazily, a few ahead of the workers."""
    for cell in cells:
        if time.time() >= deadline:
            return
        yield cell


# Backends: an iterator of cells -> records in the order they are finished

Records = Iterator[Record | None]


def _serial(cells: Iterator[Cell], deadline: float, _options: Options) -> Records:
    for cell in cells:
        yield replicate(cell, deadline)


def _processes(cells: Iterator[Cell], deadline: float, options: Options) -> Records:
    fresh, owner = get_context("spawn"), os.getpid()
    with _one_thread(), ProcessPoolExecutor(options.workers, fresh, _die_with, (owner,)) as pool:
        running: set[Future[Record | None]] = set()
        more = True
        while more or running:
            while more and len(running) < 2 * options.workers:
                cell = next(cells, None)
                if cell is None:
                    more = False
                else:
                    running.add(pool.submit(replicate, cell, deadline))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()


def _loky(cells: Iterator[Cell], deadline: float, options: Options) -> Records:
    with _one_thread():
        yield from _joblib(cells, deadline, options.workers, local=True)


def _dask(cells: Iterator[Cell], deadline: float, options: Options) -> Records:
    with optional("this backend", f"{LAB}[dask]"):
        distributed: Any = importlib.import_module("distributed")
        import joblib
    with ExitStack() as stack:
        stack.enter_context(_one_thread())
        if options.address is None:
            where = distributed.LocalCluster(
                n_workers=options.workers, threads_per_worker=1, dashboard_address=None
            )
            stack.enter_context(where)
            client = stack.enter_context(distributed.Client(where))
        else:
            client = stack.enter_context(distributed.Client(options.address))
        stack.enter_context(joblib.parallel_config("dask", client=client))
        yield from _joblib(cells, deadline, None)


def _ray(cells: Iterator[Cell], deadline: float, options: Options) -> Records:
    """Ray itself: its backend for joblib cannot hand results over as they come."""
    with optional("this backend", f"{LAB}[ray]"):
        import ray
    with _one_thread():
        if options.address is None:
            quiet = {"include_dashboard": False, "log_to_driver": False}
            ray.init(num_cpus=options.workers, ignore_reinit_error=True, **quiet)
        else:
            ray.init(address=options.address, ignore_reinit_error=True)
        try:
            task = ray.remote(num_cpus=1)(_task)
            ahead = 2 * int(ray.cluster_resources().get("CPU", 1))
            running = [
                task.remote(cell, deadline, None)
                for _, cell in zip(range(ahead), cells, strict=False)
            ]
            while running:
                (done,), running = ray.wait(running, num_returns=1)
                following = next(cells, None)
                if following is not None:
                    running.append(task.remote(following, deadline, None))
                yield ray.get(done)
        finally:
            ray.shutdown()


def _joblib(
    cells: Iterator[Cell], deadline: float, jobs: int | None, local: bool = False
) -> Records:
    with optional("this backend", LAB):
        import joblib
    owner = os.getpid() if local else None
    tasks = (joblib.delayed(_task)(cell, deadline, owner) for cell in cells)
    yield from joblib.Parallel(
        n_jobs=jobs, batch_size=1, pre_dispatch="2*n_jobs", return_as="generator_unordered"
    )(tasks)


def _task(cell: Cell, deadline: float, owner: int | None) -> Record | None:
    if owner is not None and owner != os.getpid():
        _die_with(owner)
    return replicate(cell, deadline)


BACKENDS: Final[dict[str, Callable[[Iterator[Cell], float, Options], Records]]] = {
    "serial": _serial,
    "processes": _processes,
    "loky": _loky,
    "dask": _dask,
    "ray": _ray,
}


# Workers

_watching = threading.Lock()


def _die_with(owner: int) -> None:
    """Ends this worker when the sweep that started it is gone, as after a kill."""
    if not _watching.acquire(blocking=False):
        return  # already watching

    def watch() -> None:
        while _alive(owner):
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's, and there
        pass
    return True


@contextmanager
def _one_thread() -> Iterator[None]:
    """Lets processes that are started inside use one thread for linear algebra."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
