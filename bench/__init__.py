"""Measurements of ceibo beside BoTorch and Optuna: `python -m bench`, or `make bench`.

Each section is one module whose `collect` starts child processes, so that thread limits are in
place before any numerical library is imported, and returns plain data; `tables` turns all of it
into RESULTS.md.
"""
