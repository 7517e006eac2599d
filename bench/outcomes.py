"""Seconds of one cold suggestion for several outcomes, ceibo beside BoTorch on the same data.

`python -m bench.outcomes` measures Hartmann 6 at n points of a Sobol sequence with noise of 10 % of
each outcome's range: once under three limits, against qLogNEI with constraints, and once the two
goals of DTLZ2, against qLogNEHVI. One thread each; the tools take turns on every data set.
"""

import argparse
import statistics
import sys
from functools import partial
from typing import Any, Final

import numpy as np

from bench.process import answer, describe_machine, progress, run_child, time_call
from ceibo.gp.inputs import Array

N: Final = 100
DATA_SETS: Final = 3
REPEATS: Final = 6
TARGET: Final = 10.0  # times as fast


def measure(request: dict[str, Any]) -> dict[str, Any]:
    """The child's work: seconds by case and tool."""
    # torch is imported here, after the parent has set the thread limits
    from bench import peers
    from ceibo_lab.outcomes import OutcomeRun, initial_design
    from ceibo_lab.problems.outcomes import outcome_problem

    peers.quiet()
    found: dict[str, Any] = {}
    for case, problem in {"three limits": limited(), "two goals": outcome_problem("dtlz2")}.items():
        data = []
        for seed in range(DATA_SETS):
            run = OutcomeRun.begin(problem, "homoscedastic-untold", 0.1, seed)
            for u in initial_design(problem, seed, request["n"]):
                run.measure(u)
            data.append(run.measured)
        seconds: dict[str, list[float]] = {"ceibo": [], "botorch": []}
        for repeat in range(request["repeats"]):
            progress(f"{case}: {repeat + 1} of {request['repeats']}")
            measured = data[repeat % DATA_SETS]
            for name, times in seconds.items():
                propose = partial(_propose, name, problem, measured, repeat)
                if repeat == 0:
                    propose()  # loads what is loaded once
                times.append(time_call(propose))
        found[case] = {name: statistics.median(times) for name, times in seconds.items()}
    return found


def _propose(name: str, problem: Any, measured: Any, seed: int) -> None:
    """One suggestion by a method that starts afresh."""
    from ceibo_lab.methods.outcomes import outcome_method

    outcome_method(name).start(problem, seed).propose(measured, len(measured.X))


def limited() -> Any:
    """Hartmann 6 under limits on two norms and on a product."""
    from ceibo_lab.problems.outcomes import outcome_problem
    from ceibo_lab.problems.outcomes.problem import OutcomeProblem

    two = outcome_problem("hartmann-6-norms")

    def function(X: Array) -> Array:
        return np.column_stack([two.function(X), X[:, 0] * X[:, 1] - 0.5])

    ranges = np.append(two.ranges, 1.0)
    return OutcomeProblem("hartmann-6-three", two.box, function, 1, ranges)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.outcomes", description=__doc__)
    parser.add_argument("--n", type=int, default=N)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    options = parser.parse_args()
    found = run_child("bench.outcomes", {"n": options.n, "repeats": options.repeats})
    machine = describe_machine()
    print(f"{machine['processor']}, load {machine['load']}; n = {options.n}, d = 6, one thread")
    missed = False
    for case, seconds in found.items():
        ratio = seconds["botorch"] / seconds["ceibo"]
        missed |= ratio < TARGET
        told = f"ceibo {seconds['ceibo']:.3f} s, BoTorch {seconds['botorch']:.2f} s"
        print(f"{case:<14}{told}: {ratio:.0f} times as fast (target {TARGET:.0f})")
    return int(missed)


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].startswith("{"):
        answer(measure)
    else:
        sys.exit(main())
