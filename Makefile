# make run    set up and optimise a noisy function, end to end
# make test   set up and run every check: format, lint, types, tests
# make check  format, lint and types alone
# make soak   the long batteries: kills, crowds, server crashes (tens of minutes)
# make bench  speed and quality beside BoTorch and Optuna (writes bench/RESULTS.md; wants an idle machine)
# make clean  remove the virtual environment and caches

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: run test check soak bench clean setup

run: $(VENV)/.core
	$(BIN)/python examples/run_demo.py

test: check
	$(BIN)/python -m pytest -n 2

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

soak: $(VENV)/.dev
	$(PIP) --editable '.[ray]'
	$(BIN)/python -m soak

bench: $(VENV)/.dev
	$(BIN)/python -m bench

setup: $(VENV)/.dev

# The package and what it needs: seconds.
$(VENV)/.core: pyproject.toml lab/pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	touch $@

# Everything for tests and benchmarks. torch first, and in this version: a CPU build without gigabytes of CUDA.
$(VENV)/.dev: $(VENV)/.core
	$(PIP) torch==2.13.0
	$(PIP) --editable '.[dev]' --editable 'lab[compression]'
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
