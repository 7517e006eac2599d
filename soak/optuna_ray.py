"""CeiboSampler in Ray Tune through OptunaSearch: 30 trials, one worker killed, none lost.

Then the block of docs/integrations/optuna.md, as it is written there: the tests have no Ray.

python -m soak.optuna_ray     needs ray[tune] and Optuna
"""

import json
import os
import re
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import ray
from ray import tune
from ray.tune.search.optuna import OptunaSearch

from ceibo.integrations.optuna import CeiboSampler

_TRIALS = 30
_PAGE = Path(__file__).parents[1] / "docs" / "integrations" / "optuna.md"


def trainable(config: dict[str, Any]) -> None:
    """A bowl; the tenth start kills its own process, once."""
    marker = Path(config["folder"]) / "killed"
    with Path(config["folder"], "starts").open("a") as starts:
        starts.write("x\n")
        count = starts.tell() // 2
    if count == 10 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    tune.report({"loss": (config["x"] - 0.3) ** 2 + (config["y"] - 0.6) ** 2})


def page_results(folder: str) -> int:
    """How many results the block of the page gives, run in this folder instead of Ray's default."""
    found = re.search(r"## Ray Tune.*?```python\n(.*?)```", _PAGE.read_text(encoding="utf-8"), re.S)
    if found is None:
        return 0
    names: dict[str, Any] = {"__name__": "__main__"}
    with patch("ray.train.constants.DEFAULT_STORAGE_PATH", folder):
        exec(compile(found[1], str(_PAGE), "exec"), names)
    return sum("loss" in (result.metrics or {}) for result in names["results"])


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="ceibo-ray-") as folder:
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        search = OptunaSearch(metric="loss", mode="min", sampler=CeiboSampler(seed=0))
        space = {"x": tune.uniform(0, 1), "y": tune.uniform(0, 1), "folder": folder}
        tuner = tune.Tuner(
            trainable,
            param_space=space,
            tune_config=tune.TuneConfig(
                search_alg=search, num_samples=_TRIALS, max_concurrent_trials=2
            ),
            run_config=tune.RunConfig(
                storage_path=folder, failure_config=tune.FailureConfig(max_failures=2), verbose=0
            ),
        )
        results = tuner.fit()
        killed = Path(folder, "killed").exists()
        from_page = page_results(folder)
        ray.shutdown()
    metrics = [results[index].metrics or {} for index in range(len(results))]
    losses = [each["loss"] for each in metrics if "loss" in each]
    figures = {
        "trials": len(results),
        "results": len(losses),
        "a worker was killed": killed,
        "best": min(losses),
    }
    print(json.dumps(figures | {"results of the page's block": from_page}, indent=1))
    return 0 if len(losses) == _TRIALS and killed and from_page == _TRIALS else 1


if __name__ == "__main__":
    sys.exit(main())
