"""The paper's experiments: problems, noise protocols, methods, a resumable runner, statistics,
figures, a report.

    problems/       functions to minimise, with their optimisers and ranges; randomly shifted
                    variants
    protocols.py    how a value is made noisy, and what the model is told about it
    proposers.py, methods.py, references.py
                    how the next point is chosen, and by which name
    experiments.py  which of these meet, declared as data
    runs.py, kinds.py, replicate.py
                    one cell of an experiment -> one record
    records.py      records as JSON lines
    runner.py       many cells on many cores, resumable
    measures.py, statistics.py, report.py, figures.py
                    from records to statements

`ceibo paper` is the command line; `python -m ceibo_lab.sweep` runs cells with
NumPy, SciPy and ceibo's own dependencies alone.
"""
