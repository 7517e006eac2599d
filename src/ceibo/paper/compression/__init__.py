"""Model compression: ranks of factorized layers, chosen under a noisy error. Needs PyTorch.

lowrank.py        one layer -> two thin ones, any rank from one decomposition
compressible.py   a network with the decompositions of its layers
compress.py       compress(): the search for a network of one's own
networks.py, data.py, prepare.py, weights.py, train.py
                  the paper's networks, with their pictures and weights
tasks.py, measure.py, objective.py
                  the paper's three tasks and their noisy objective
replicate.py, sweep.py, figures.py, report.py
                  the experiments, from cells to statements
"""

from ceibo.paper.compression.compress import Compressed, TradeOff, compress
from ceibo.paper.compression.compressible import Compressible
from ceibo.paper.compression.lowrank import Factorization, factorizable, factorize, replace_layers

__all__ = [
    "Compressed",
    "Compressible",
    "Factorization",
    "TradeOff",
    "compress",
    "factorizable",
    "factorize",
    "replace_layers",
]
