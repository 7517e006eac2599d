"""Endurance checks against real files, real processes and a real server; each prints its figures.

python -m soak                all of them in turn
python -m soak.kills          1,000 processes killed on SQLite, and 1,000 on PostgreSQL
python -m soak.concurrency    64 processes on SQLite, and on a PostgreSQL server crashed thrice
python -m soak.servers        a PostgreSQL server killed 20 times under workers that are killed too
python -m soak.forks          100 runs of threads that fork while others tell
python -m soak.vanish         200 files deleted, renamed or replaced under working processes
python -m soak.power          2,000 power losses below the process, from a record of its writes
python -m soak.damage         5,000 databases with damaged bytes and cells
python -m soak.signals        every signal at every stage of a run
python -m soak.outputs        10,000 hostile outputs of commands
python -m soak.clocks         jumps of the database's clock under workers
python -m soak.fairness       four workers, one of them five times slower
python -m soak.scale          studies of 10,000 and 100,000 trials; 1,000 dimensions
python -m soak.resume         100 studies killed and reopened; 8 workers verified
python -m soak.machine        2,000 random sequences of everything a study does
python -m soak.hypervolume    expected hypervolume improvement beside 10,000,000 draws, 100 states
python -m soak.changes        200 histories of spaces that change under killed processes
python -m soak.noise          unknown noise inferred on 50 data sets
python -m soak.cost           a cheaper measurement stops later; profit
python -m soak.mixed          a space of every kind of parameter, beside random search
python -m soak.fuzz           100,000 random studies, files, sheets, outputs, pages, command lines
python -m soak.overhead       time of storing; opening and asking a study of 10,000 trials
"""
