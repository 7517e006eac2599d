"""Seconds of one cold suggestion with rules, beside the box of the same dimension and BoTorch.

`python -m bench.inputs` measures a smooth function of d = 3, 6, 12 and 20 parameters at n random
settings that obey the rules, with noise of 10 % of the values' spread, not told:

    mixture     all parameters sum to one, and an inequality
    sums        three inequalities
    conditions  one parameter has four choices, each with a bound of its own on another; its box has
                the choices too
    few         a mixture of which at most three parts are there

The target is at most twice the time of the same parameters without rules. BoTorch's constrained
optimiser stands beside it. One thread each; the tools take turns on every data set.
"""

import argparse
import statistics
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import numpy as np

from bench.process import answer, describe_machine, progress, run_child, time_call
from ceibo.decide.dimensions import Categorical, Dimension, Float
from ceibo_lab.inputs import Trials
from ceibo_lab.methods.inputs import input_method
from ceibo_lab.problems.inputs.problem import InputProblem
from ceibo_lab.problems.inputs.rules import Few, Params, Rule, Total

N: Final = 100
DIMENSIONS: Final = (3, 6, 12, 20)
REPEATS: Final = 6
TARGET: Final = 2.0  # times the box
CASES: Final = ("mixture", "sums", "conditions", "few")
_CHOICES: Final = "abcd"


def problem(case: str, d: int, ruled: bool = True) -> InputProblem:
    """A case in d dimensions, or the same parameters without rules."""
    names = [f"x{k}" for k in range(d)]
    dimensions: dict[str, Dimension] = {name: Float(0.0, 1.0) for name in names}
    parts: tuple[str, ...] = ()
    rules: list[Rule] = []
    if case in ("mixture", "few"):
        parts = tuple(names)
        rules.append(Total(dict.fromkeys(names, 1.0), 1.0, equal=True))
    if case == "mixture":
        rules.append(Total({names[0]: 1.0, names[1]: -0.5}, 0.2))
    elif case == "few":
        rules.append(Few(parts, most=min(3, d - 1)))
    elif case == "sums":
        firsts = dict.fromkeys(names[: (d + 1) // 2], 1.0)
        rules.append(Total(firsts, 0.6 * len(firsts)))
        rules.append(Total({names[-1]: 1.0, names[0]: -1.0}, 0.3))
        rules.append(Total({names[0]: -1.0, names[1]: -1.0, names[2]: -0.5}, -0.8))
    else:
        dimensions[names[-1]] = Categorical(list(_CHOICES))
        rules += [
            Total({names[0]: 1.0}, 0.4 + 0.15 * k, where={names[-1]: each})
            for k, each in enumerate(_CHOICES)
        ]
    if not ruled:
        return InputProblem(f"{case}-{d}-box", dimensions, _truth)
    return InputProblem(f"{case}-{d}", dimensions, _truth, tuple(rules), parts)


def _truth(params: Params) -> float:
    values = [v if isinstance(v, float) else _CHOICES.index(v) / 3.0 for v in params.values()]
    centres = np.linspace(0.1, 0.5, len(values))
    return float(np.sum((np.array(values) - centres) ** 2 / (1.0 + np.arange(len(values)))))


def measured(target: InputProblem, n: int, seed: int) -> Trials:
    """Values at n random settings, with noise that is not told."""
    rng = np.random.default_rng(seed)
    settings = tuple(target.sample(rng) for _ in range(n))
    true = np.array([target.truth(each) for each in settings])
    values = true + 0.1 * np.std(true) * rng.standard_normal(n)
    return Trials(settings, values, np.full(n, np.nan), tuple(range(n)), {})


def measure(request: Mapping[str, Any]) -> dict[str, Any]:
    """The child's work: seconds by tool, with rules and without."""
    case, d, n = request["case"], request["d"], request["n"]
    sides = {name: problem(case, d, ruled=name == "rules") for name in ("rules", "box")}
    seconds: dict[str, list[float]] = {}
    for repeat in range(request["repeats"]):
        progress(f"{case}, d = {d}: {repeat + 1} of {request['repeats']}")
        for side, target in sides.items():
            data = measured(target, n, repeat)
            for name in request["tools"]:
                propose = partial(_propose, name, target, data, repeat)
                if repeat == 0:
                    propose()  # loads what is loaded once
                seconds.setdefault(f"{name} {side}", []).append(time_call(propose))
    return {name: statistics.median(times) for name, times in seconds.items()}


def _propose(name: str, target: InputProblem, data: Trials, seed: int) -> None:
    """One suggestion by a method that starts afresh."""
    input_method(name).start(target, seed).propose(data, len(data.values))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.inputs", description=__doc__)
    parser.add_argument("--n", type=int, default=N)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--dimensions", type=int, nargs="+", default=list(DIMENSIONS))
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--alone", action="store_true", help="without BoTorch")
    options = parser.parse_args()
    machine = describe_machine()
    print(f"{machine['processor']}, load {machine['load']}; n = {options.n}, one thread")
    print(f"{'case':<12}{'d':>4}{'box s':>9}{'rules s':>9}{'times':>7}{'BoTorch box, rules s':>24}")
    tools = ["ceibo"] if options.alone else ["ceibo", "botorch"]
    missed = False
    for case in options.cases:
        for d in options.dimensions:
            request = {"case": case, "d": d, "n": options.n, "repeats": options.repeats}
            found = run_child("bench.inputs", request | {"tools": tools})
            ratio = found["ceibo rules"] / found["ceibo box"]
            missed |= ratio > TARGET
            told = f"{found['ceibo box']:>9.3f}{found['ceibo rules']:>9.3f}{ratio:>7.2f}"
            beside = [found[each] for each in ("botorch box", "botorch rules") if each in found]
            print(f"{case:<12}{d:>4}{told}" + "".join(f"{s:>12.2f}" for s in beside), flush=True)
    if missed:
        print(f"missed: more than {TARGET:g} times the box")
    return int(missed)


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].startswith("{"):
        answer(measure)
    else:
        sys.exit(main())
