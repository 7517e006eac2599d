"""What a run needs beside its study: the objective and the options, checked before any work."""

from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Generic, TypedDict, final

from ceibo.decide.block_names import AnyBlock, Block, block_of
from ceibo.decide.stopping import Stop
from ceibo.errors import InputError
from ceibo.study.carrying import carry
from ceibo.study.confirming import check_one_goal
from ceibo.study.evaluation import Inline, Objective, job_count
from ceibo.study.limits import USUAL_FAILURES, Limits
from ceibo.study.pool import check_sendable
from ceibo.study.runner import Callback, Runner, S


class RunOptions(TypedDict, Generic[S], total=False):
    """The options of `Study.optimize`; `minimize` says what they mean."""

    n_trials: int | None
    cost: float | None
    timeout: float | None
    executor: Executor | None
    jobs: int | None
    callbacks: Iterable[Callback[S]]
    max_failures: int | None
    lease: float
    block: AnyBlock
    confirm: float
    progress: bool | None


@final
@dataclass(frozen=True)
class Run(Generic[S]):
    """An objective with the options of a run, ready for any study."""

    objective: Objective
    limits: Limits
    executor: Executor | None
    jobs: int
    callbacks: tuple[Callback[S], ...]
    progress: bool | None
    block: Block = ()

    @classmethod
    def of(cls, objective: Objective, options: RunOptions[S]) -> "Run[S]":
        """A run with these options, or an error that says which is wrong."""
        ends = options.get("n_trials"), options.get("cost"), options.get("timeout")
        patience = options.get("max_failures", USUAL_FAILURES), options.get("lease", 60.0)
        limits = Limits(*ends, *patience, options.get("confirm", 0)).or_default()
        executor = options.get("executor")
        jobs = job_count(executor, options.get("jobs"))
        callbacks: tuple[Callback[S], ...] = _check_callbacks(options.get("callbacks", ()))
        progress = options.get("progress")
        if not callable(objective):
            raise InputError(
                f"objective must be a function of a dict of parameters, got {objective!r}."
            )
        check_sendable(objective, executor)
        if not (progress is None or isinstance(progress, bool)):
            raise InputError(f"progress must be True, False or None, got {progress!r}.")
        block = block_of(options.get("block"))
        return cls(objective, limits, executor, jobs, callbacks, progress, block)

    def on(self, study: S) -> Stop:
        """Runs a study until a limit is reached; whatever is raised instead carries the study."""
        executor = Inline() if self.executor is None else self.executor
        try:
            if self.limits.confirm:
                check_one_goal(study.outcomes)
            runner = Runner(study, self.objective, self.limits, executor, self.jobs, self.block)
            return runner.run(self.callbacks, self.progress)
        except BaseException as error:
            carry(error, study)
            raise


def _check_callbacks(callbacks: Any) -> tuple[Callback[S], ...]:
    """Checks the callbacks before the run, rather than when the first trial has ended."""
    checked = tuple(callbacks) if isinstance(callbacks, Iterable) else None
    if checked is None or not all(map(callable, checked)):
        wanted = "a list of functions of a study and a trial"
        raise InputError(f"callbacks must be {wanted}, got {callbacks!r}.")
    return checked
