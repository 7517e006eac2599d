"""The paper's compression experiments. Needs PyTorch.

networks.py, data.py, prepare.py, weights.py, train.py
                  the paper's networks, with their pictures and weights
tasks.py, measure.py, objective.py
                  the paper's three tasks and their noisy objective
replicate.py, sweep.py
                  the experiments, from cells to records
"""
