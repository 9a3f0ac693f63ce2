# Two commands do all the set-up: `make demo` and `make test`. Everything else is for people who change the code.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help setup demo test check fix bench fault lock clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: .venv/installed ## Make the virtual environment from the lock file

.venv/installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: setup ## Sample traffic in, a lake, figures and a report out
	$(BIN)/thinkledger demo --folder demo

test: setup ## Run the tests
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

check: setup ## Lint, types, layers and tests: what CI runs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy schemas transforms pipelines sql tests
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

fix: setup ## Format, and mend what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup ## Speed and memory, beside plain loops over the same lines
	$(BIN)/python -m tests.bench.throughput

fault: setup ## Kill 50 runs, each at another point, and read a lake while it is rewritten (POINTS=, SEED=)
	$(BIN)/python -m tests.faults.killing --points $(or $(POINTS),50) $(if $(SEED),--seed $(SEED))
	$(BIN)/python -m tests.faults.reading

lock: ## Renew requirements.lock (needs uv)
	uv pip compile pyproject.toml --group dev --universal --generate-hashes --no-header --python-version 3.11 -o requirements.lock

clean: ## Remove what the other targets made
	rm -rf .venv demo build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
