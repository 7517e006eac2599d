"""The suite: noisy problems on which ceibo's default was chosen, and against which it is measured.

tasks.py       the problems, with their spaces and known optima
noise.py       how they are measured
plan.py        the two halves, the noise settings, what is compared
base.py        what a method is
methods.py     all methods by name; candidate.py, ceibo's own; variants.py, those that are more than
               settings
references.py  BoTorch and Optuna on the same tasks
run.py         one replication
analysis.py    ranks, tests, wins and losses, from records
targets.py     what the default has to show, decided from the analysis
figures.py     curves, ranks, profiles, losing runs
page.py        docs/default.md, with sections.py, guide.py, names.py and words.py
"""
