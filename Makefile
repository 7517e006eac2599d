# make run           set up and optimise a noisy function, end to end
# make test          set up and run every check: format, lint, types, tests
# make check         format, lint and types alone
# make test-minimal  the tests that need no extra, where none is installed
# make test-oldest   the tests with the lowest versions that pyproject.toml allows
# make package       build both distributions, try their wheels in an empty environment
# make soak          the long batteries: kills, crowds, server crashes (about an hour)
# make quality       the long statistics: closed forms, regret, coverage
# make bench         speed and quality beside BoTorch and Optuna (writes bench/RESULTS.md; wants
#                    an idle machine)
# make peers         the outside tools that ceibo is measured against, each in an environment of
#                    its own under .venv-peers (lab/peers/README.md)
# make constraints   renew constraints.txt from the newest versions of everything
# make clean         remove the virtual environments and caches
#
# Two distributions are installed: ceibo from this folder, ceibo-lab (`ceibo paper`) from lab/.

PYTHON  ?= python3
VENV    := .venv
MINIMAL := .venv-minimal
OLDEST  := .venv-oldest
PACKAGE := .venv-package
NEWEST  := .venv-newest
PEERS   := .venv-peers
BIN     := $(VENV)/bin
PIP     := -m pip install --quiet --disable-pip-version-check
# The versions that are known to work together; test-oldest and package go without.
INSTALL := $(PIP) --constraint constraints.txt
PROJECT := pyproject.toml lab/pyproject.toml
# Extras whose lowest versions are tested; those of the extra dev are no promise to anybody.
EXTRAS  := postgres compression botorch optuna sklearn dask

.PHONY: run test check test-minimal test-oldest package soak quality bench peers constraints clean \
    setup

run: $(VENV)/.core
	$(BIN)/python examples/run_demo.py

test: check
	$(BIN)/python -m pytest -n 2

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# What these leave out, for want of a package, they list at the end. Pages and examples, the
# mathematics and the store's kills, which take long and are the same with extras, are run by
# `make test`.
test-minimal: $(MINIMAL)/.done
	$(MINIMAL)/bin/python -m pytest --only-installed -rfEs -n 2 \
	    --ignore tests/gp --ignore tests/acquisition --ignore tests/decide --ignore tests/study \
	    -k "not (test_blocks_of_a_page_run or test_docs_examples)"

test-oldest: $(OLDEST)/.done
	$(OLDEST)/bin/python -m pytest --only-installed -rfEs -n 2

package: $(PACKAGE)/.done
	$(PACKAGE)/bin/python -m tools.package

soak: $(VENV)/.dev
	$(BIN)/python $(INSTALL) --editable '.[ray]'
	$(BIN)/python -m soak

quality: $(VENV)/.dev
	$(BIN)/python -m soak --quality

bench: $(VENV)/.dev
	$(BIN)/python -m bench

setup: $(VENV)/.dev

# Both distributions and what they need: seconds.
$(VENV)/.core: $(PROJECT) constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL) --editable . --editable lab
	touch $@

# Everything for tests and benchmarks. torch first, and in this version: a CPU build without
# gigabytes of CUDA.
$(VENV)/.dev: $(VENV)/.core
	$(BIN)/python $(INSTALL) torch==2.13.0
	$(BIN)/python $(INSTALL) --editable '.[dev]' --editable 'lab[compression]'
	touch $@

$(MINIMAL)/.done: $(PROJECT) constraints.txt
	test -x $(MINIMAL)/bin/python || $(PYTHON) -m venv $(MINIMAL)
	$(MINIMAL)/bin/python $(INSTALL) --editable '.[test]'
	touch $@

# Without the laboratory: some of its tests hold for the rounding of one set of versions.
$(OLDEST)/.done: $(PROJECT) tools/oldest.py
	test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m tools.oldest pyproject.toml $(EXTRAS) > $(OLDEST)/requirements.txt
	$(OLDEST)/bin/python $(PIP) torch==2.13.0
	$(OLDEST)/bin/python $(PIP) --requirement $(OLDEST)/requirements.txt --editable '.[test]'
	touch $@

$(PACKAGE)/.done:
	test -x $(PACKAGE)/bin/python || $(PYTHON) -m venv $(PACKAGE)
	$(PACKAGE)/bin/python $(PIP) build twine
	touch $@

# A tool that cannot be installed does not stop the others; make ends with an error then.
peers:
	$(MAKE) --keep-going $(patsubst lab/peers/%.txt,$(PEERS)/%/.done,$(wildcard lab/peers/*.txt))

# Each file is a whole environment. Without dependencies, as HEBO's and Vizier's own bounds cannot
# be met beside ceibo; only torch brings its own.
$(PEERS)/%/.done: lab/peers/%.txt
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	if grep -q '^torch==' $<; then $(@D)/bin/python $(PIP) torch==2.13.0; fi
	$(@D)/bin/python $(PIP) --no-deps --requirement $<
	$(@D)/bin/python $(PIP) --no-deps --editable . --editable lab
	touch $@

constraints:
	rm -rf $(NEWEST)
	$(PYTHON) -m venv $(NEWEST)
	$(NEWEST)/bin/python $(PIP) torch==2.13.0
	$(NEWEST)/bin/python $(PIP) --editable '.[dev,ray]' --editable 'lab[compression]'
	$(NEWEST)/bin/python -m tools.constraints > constraints.new
	mv constraints.new constraints.txt
	rm -rf $(NEWEST)

clean:
	rm -rf $(VENV) $(MINIMAL) $(OLDEST) $(PACKAGE) $(NEWEST) $(PEERS) .mypy_cache .ruff_cache .pytest_cache \
	    .hypothesis dist build
