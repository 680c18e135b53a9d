# Every target prepares what it needs, from Python 3.11, make and a package index, in .venv.
# Once prepared, a target starts at once; after a change of pyproject.toml or constraints.txt it installs again.

VENV := .venv
PY := $(VENV)/bin/python
LOCK := pyproject.toml $(wildcard constraints.txt)

.PHONY: help demo test faults lint bench dist release-check clean
.DEFAULT_GOAL := help

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.demo  ## a tour with a recorded model and a real kernel: no key, no network
	@$(VENV)/bin/terp demo

test: $(VENV)/.dev  ## all tests; one that needs a missing program is skipped by name
	@$(PY) -m pytest -q -n logical --dist worksteal

faults: $(VENV)/.dev  ## what terp must survive, in full and with figures: some minutes
	@$(PY) -m pytest -q -n logical -m faults tests/faults tests/effects tests/cli/server/attacks tests/cli/acp tests/cli/mcp_server tests/core/models tests/core/store

lint: $(VENV)/.dev  ## ruff and mypy, as they must be before a commit
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy core cli tests bench

bench: $(VENV)/.dev  ## how terp compares with python, IPython and jupyter_client on this machine
	@$(PY) -m bench

dist: $(VENV)/.dev  ## sdist, and the wheel that is built from it, in dist/
	@$(PY) -m build --quiet --outdir dist .

release-check: $(VENV)/.dev  ## what must hold before a release: builds, licences, oldest and newest dependencies
	@$(PY) .ci/release_check.py $(TESTS)

clean:  ## remove what these targets made
	rm -rf $(VENV) dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.made:
	@echo "Making a virtual environment in $(VENV)"
	@python=$$(sh .ci/find-python) && "$$python" -m venv $(VENV)
	@touch $@

$(VENV)/.demo: $(VENV)/.made $(LOCK)
	@$(PY) .ci/install.py demo
	@touch $@

$(VENV)/.dev: $(VENV)/.made $(LOCK)
	@$(PY) .ci/install.py demo server dev
	@touch $(VENV)/.demo $@
