"""Outside tools on the suite, each as its users run it, with its own design and its own answer.

Most need an environment of their own: `make peers` makes them, from the files in lab/peers, under
.venv-peers; `.venv-peers/NAME/bin/ceibo paper run … --method NAME` then adds to the same folder of
records. A new tool is a class in a file of its own (see `Tool`), a line here, and a file in
lab/peers.
"""

from importlib import import_module
from typing import Final

from ceibo.decide import Space
from ceibo_lab.method import Entry, Method, PointEntry
from ceibo_lab.methods.peers.tool import Peer
from ceibo_lab.optional import MissingPackageError


def _peer(
    name: str, label: str, kind: str, *packages: str, only_numbers: bool = False
) -> tuple[str, PointEntry]:
    """A tool under its name; the class `kind` is imported when it is first asked for."""
    install = f"`make peers` installs it in .venv-peers/{name}"

    def start(space: Space, seed: int) -> Method:
        try:
            found = import_module(f"ceibo_lab.methods.peers.{name.replace('-', '_')}")
        except ImportError as error:
            raise MissingPackageError(f"{name} cannot run here: {error}; {install}.") from error
        return Peer(space, seed, getattr(found, kind))

    return name, Entry(label, start, {}, packages, install, only_numbers)


PEERS: Final[dict[str, PointEntry]] = dict(
    (
        _peer("ax", "Ax Client", "Ax", "ax-platform", "botorch", "torch"),
        _peer("bask", "bask", "Bask", "bask", "scikit-optimize", "scikit-learn"),
        _peer("baybe", "BayBE", "Baybe", "baybe", "botorch", "torch"),
        _peer("bayes-opt", "bayes_opt", "BayesOpt", "bayesian-optimization", "scikit-learn"),
        _peer("bofire", "BoFire SoboStrategy", "Bofire", "bofire", "botorch", "torch"),
        _peer("hebo", "HEBO", "Hebo", "HEBO", "torch"),
        _peer("optuna-tpe", "Optuna TPE", "OptunaTpe", "optuna"),
        _peer("pybads", "PyBADS", "Pybads", "pybads", "gpyreg", only_numbers=True),
        _peer("skopt", "scikit-optimize", "Skopt", "scikit-optimize", "scikit-learn"),
        _peer("smac3", "SMAC3 BlackBoxFacade", "Smac3", "smac", "scikit-learn"),
        _peer("vizier", "Vizier", "Vizier", "google-vizier", "jax"),
    )
)
