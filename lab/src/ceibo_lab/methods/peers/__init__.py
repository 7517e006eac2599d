"""Outside tools on the suite, each as its users run it, with its own design and its own answer.

Most need an environment of their own: `make peers` makes them, from the files in lab/peers, under
.venv-peers; `.venv-peers/NAME/bin/ceibo paper run … --method NAME` then adds to the same folder of
records. A new tool is a class in a file of its own, a line here, and a file in lab/peers.
"""

from importlib import import_module
from typing import Final

from ceibo.decide import Space
from ceibo_lab.method import Entry, Method, PointEntry
from ceibo_lab.optional import optional


def _peer(label: str, module: str, name: str, *packages: str) -> PointEntry:
    """A tool that is imported when it is first asked for."""

    def start(space: Space, seed: int) -> Method:
        with optional(f"the method {label}", packages[0]):
            found = import_module(f"ceibo_lab.methods.peers.{module}")
        started: Method = getattr(found, name)(space, seed)
        return started

    return Entry(label, start, {}, packages)


PEERS: Final[dict[str, PointEntry]] = {
    "ax": _peer("Ax Client", "ax", "AxClient", "ax-platform", "botorch", "torch"),
    "bask": _peer("bask", "bask", "Bask", "bask", "scikit-learn"),
    "baybe": _peer("BayBE", "baybe", "Baybe", "baybe", "botorch", "torch"),
    "bayes-opt": _peer("bayes_opt", "bayes_opt", "BayesOpt", "bayesian-optimization"),
    "bofire": _peer("BoFire SoboStrategy", "bofire", "Bofire", "bofire", "botorch", "torch"),
    "hebo": _peer("HEBO", "hebo", "Hebo", "HEBO", "torch"),
    "optuna-tpe": _peer("Optuna TPE", "optuna_tpe", "OptunaTpe", "optuna"),
    "pybads": _peer("PyBADS", "pybads", "Pybads", "pybads", "gpyreg"),
    "skopt": _peer("scikit-optimize", "skopt", "Skopt", "scikit-optimize", "scikit-learn"),
    "smac3": _peer("SMAC3 BlackBoxFacade", "smac3", "Smac3", "smac"),
    "vizier": _peer("Vizier", "vizier", "Vizier", "google-vizier", "jax"),
}
