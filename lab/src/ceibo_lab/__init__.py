"""The experiments behind ceibo, as `ceibo paper`.

    problem.py, problems/   functions to minimise, with their optimisers and ranges; networks/
    noise.py                how a value is made noisy, and what a method is told about it
    method.py, methods/     how the next point is chosen
    run.py, kinds/          one replication: the loop, and what is written down of it
    plans/                  experiments: which of these meet, as data
    record.py, replicate.py from a cell to its record
    records.py, library.py  files of records; records found by what they are about
    sweep.py                many cells on many cores, resumable
    arithmetic.py, completeness.py, repeat.py
                            what made a record, what is missing, whether it comes out again
    measures.py, compare.py, interval.py, pooled.py
                            from records to tests, with what they could have seen
    claims.py, remarks.py, rows.py, finals.py, figures.py, page.py, report.py
                            from tests to statements

Running cells needs NumPy, SciPy and ceibo's own dependencies alone.
"""
