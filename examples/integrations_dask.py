"""minimize() with its evaluations on a Dask cluster, here of two local workers.

Needs `pip install '.[dask]'`. Run it with `python examples/integrations_dask.py`.
"""

import numpy as np
from distributed import Client, LocalCluster

import ceibo


def objective(params: dict[str, float]) -> ceibo.Measurement:
    """What a worker runs: an expensive, noisy simulation."""
    rng = np.random.default_rng(int(1e6 * params["x"]))
    values = (params["x"] - 0.3) ** 2 + 0.05 * rng.standard_normal(4)
    return ceibo.Measurement.of(values.tolist())


def main() -> None:
    # On a real cluster: Client("tcp://scheduler:8786"), or dask_jobqueue's SLURMCluster in place of
    # LocalCluster.
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        space = {"x": ceibo.Float(0, 1)}
        result = ceibo.minimize(
            objective, space, n_trials=20, executor=client.get_executor(), jobs=2, seed=0
        )
    print(f"{result.stop.message}")
    print(f"best: {result.best}")


if __name__ == "__main__":
    main()
