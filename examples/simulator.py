"""A simulator: the number and speed of the clerks at a counter with random customers.

Each evaluation runs a few simulated days; their scatter tells ceibo how noisy the answer is. Clerks
and speed cost money, waiting customers cost more. A counter that cannot keep up costs a hundred
times more than a good one, so the logarithm is what is minimised. Evaluations go to two processes.
"""

import math
import random
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import ceibo

SPACE = {
    "clerks": ceibo.Int(1, 12),
    "speed": ceibo.Float(0.5, 2.0),  # customers per minute and clerk
}
ARRIVALS = 4.0  # customers per minute
MINUTES = 240


def one_day(clerks: int, speed: float, rng: random.Random) -> float:
    """Cost of one simulated day: wages, equipment and waiting time."""
    free = [0.0] * clerks  # when each clerk is next free
    clock = waiting = 0.0
    while clock < MINUTES:
        clock += rng.expovariate(ARRIVALS)
        first = min(range(clerks), key=free.__getitem__)
        start = max(clock, free[first])
        waiting += start - clock
        free[first] = start + rng.expovariate(speed)
    return 40.0 * clerks + 25.0 * clerks * speed**2 + 0.5 * waiting


def cost(params: dict[str, Any]) -> ceibo.Measurement:
    """Logarithm of the cost of five simulated days, as replicates."""
    rng = random.Random(repr(sorted(params.items())))  # the same days for the same setting
    days = [one_day(params["clerks"], params["speed"], rng) for _ in range(5)]
    return ceibo.Measurement.of([math.log(day) for day in days])


def main() -> None:
    with ProcessPoolExecutor(2) as pool:
        result = ceibo.minimize(cost, SPACE, n_trials=30, seed=1, executor=pool)
    best = result.best
    print(f"{result.stop.message}")
    price, doubt = math.exp(best.mean), 100 * best.std
    print(
        f"{best.params['clerks']} clerks at speed {best.params['speed']:.2f}: {price:.0f} a day, ±"
        f" {doubt:.0f} %"
    )
    print(f"lowest mean of five days seen: {math.exp(result.best_observed.value):.0f}")


if __name__ == "__main__":
    main()
