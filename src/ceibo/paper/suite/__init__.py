"""The suite: noisy problems on which ceibo's default was chosen, against which it is measured.

tasks.py       the problems, with their spaces and known optima
noise.py       how they are measured
plan.py        the two halves, the noise settings, the candidates
candidates.py  ceibo's own methods by name
references.py  BoTorch, Optuna and random search on the same tasks
run.py         one replication
analysis.py    ranks, tests, wins and losses, from records
page.py        the page and figures of the results
"""
