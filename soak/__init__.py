"""Endurance checks of the store against real files, real processes and a real server; each prints its figures.

python -m soak.kills          500 processes killed at random moments, on SQLite and on PostgreSQL
python -m soak.concurrency    64 processes on one SQLite file, 64 on a PostgreSQL server that is crashed thrice
python -m soak.overhead       store time of ask + tell, and opening a study of 10,000 trials
"""
