# `make run` starts the dashboard, `make test` runs the tests.
PYTHON ?= python3
BIN := .venv/bin
.DEFAULT_GOAL := help
unexport PYTHONDONTWRITEBYTECODE # each process that a test starts would compile all modules again
.PHONY: help run dev check lint test programs every fuzz soak bench format lock clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

run: .venv/installed ## Start the dashboard on http://127.0.0.1:8000, with the emulator unless a service is set
	@exec $(BIN)/python manage.py runserver --noreload

dev: .venv/installed ## Start the dashboard and restart it when a file changes
	@exec $(BIN)/python manage.py runserver

check: lint ## Check formatting, lint, types, import rules, words and dependencies
	@.ci/audit

lint: .venv/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tests.words

# Three processes for two cores, because some wait for a timer or a browser. A file's tests share a server.
PYTEST := $(BIN)/pytest -n $(or $(WORKERS),3) --dist loadfile --no-loadscope-reorder

test: .venv/installed-dev ## Run the tests, the same ones each time (about four minutes)
	$(PYTEST)

programs: .venv/installed-dev ## Run what needs PostgreSQL, nginx or git, the docs' commands, and every page in a browser (seven minutes)
	$(PYTEST) -m "programs and not slow"

every: .venv/installed-dev ## Run every test with every case of every corpus (before a release)
	$(PYTEST) -m "" --hypothesis-profile=every

fuzz: .venv/installed-dev ## Fuzz responses and requests with new examples (FUZZ_EXAMPLES, default 2000)
	$(BIN)/pytest tests/faults/test_fuzz.py --hypothesis-profile=fuzz

soak: .venv/installed-dev ## Load pages and streams for minutes, and look for leaks
	$(BIN)/pytest -m slow tests/faults/test_soak.py

bench: .venv/installed-dev ## Measure pages and live updates, write bench/RESULTS.md (15 minutes on an idle machine)
	@$(BIN)/python -m bench.pages --live

format: .venv/installed-dev ## Format code and apply ruff fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

LOCK := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --upgrade --all-extras pyproject.toml

lock: .venv/installed-dev ## Regenerate lock files with hashes
	$(LOCK) -o requirements.txt
	$(LOCK) --group dev -c requirements.txt -o requirements-dev.txt

clean: ## Remove installed packages and generated files
	rm -rf .venv .peer .static .templates .mypy_cache .ruff_cache .pytest_cache .hypothesis .demo

.venv/bin/python:
	$(if $(shell $(PYTHON) -c 'import sys; print(sys.version_info >= (3, 12) or "")' 2>/dev/null),,$(error \
		intents-ui needs Python 3.12 or newer, and $(PYTHON) is not. Try: make $(MAKECMDGOALS) PYTHON=python3.13))
	@$(PYTHON) -m venv .venv

.venv/installed: requirements.txt | .venv/bin/python
	@echo "Installing the dashboard's dependencies ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@touch $@

.venv/installed-dev: requirements-dev.txt .venv/installed
	@echo "Installing the test dependencies ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@
