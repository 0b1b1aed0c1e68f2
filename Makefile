# Two commands: `make run` shows the dashboard, `make test` tests it.
PYTHON ?= python3
BIN := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help run dev check lint quick quick-tests test deep coverage bench fuzz mutation format lock clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

run: .venv/installed ## Start the dashboard on http://127.0.0.1:8000 with the embedded service
	@exec $(BIN)/python -m gunicorn --config gunicorn.conf.py

dev: .venv/installed ## The same, restarting when a file changes
	@exec $(BIN)/python manage.py runserver

check: lint ## Formatting, lint, types, import directions, known weaknesses
	@.ci/audit

quick: .venv/installed-dev ## Lint, types, and the tests of pure functions and of one page of each kind (half a minute)
	@$(MAKE) --no-print-directory --jobs=2 --output-sync lint quick-tests

lint: .venv/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

quick-tests:
	$(BIN)/pytest --quiet -m "not sampled" tests/display tests/service/test_scalars.py tests/service/test_wire.py \
		tests/service/test_paging.py tests/pages/test_site.py

test: .venv/installed-dev ## All of that, then the tests, with a sample of the large corpora (six minutes)
	@.ci/tests

deep: .venv/installed-dev ## Every test with every case: full corpora, soak, image, scale-out, documents (25 minutes)
	@.ci/tests --deep

coverage: .venv/installed-dev ## The lines that no test runs; there are none in intents_ui/service
	@$(BIN)/coverage erase
	@PYTEST="$(BIN)/coverage run -m pytest" .ci/tests --deep
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report
	@$(BIN)/coverage report --include "intents_ui/service/*" --fail-under 100

bench: .venv/installed-dev ## What the pages and the live part cost, written to bench/RESULTS.md (six minutes; leave the machine alone)
	@$(BIN)/python -m bench.pages --live

fuzz: .venv/installed-dev ## Odd answers and requests, FUZZ_EXAMPLES of each kind (2000), other ones each time
	@seed=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' '); echo "The seed is $$seed (--hypothesis-seed)"; \
	FUZZ_EXAMPLES=$${FUZZ_EXAMPLES:-2000} $(BIN)/pytest tests/faults/test_fuzz.py --hypothesis-seed=$$seed

mutation: .venv/installed-mutation ## Which small changes to the deciding modules no test notices (MUTANTS of each module, 30)
	@$(BIN)/python -m tests.mutation $${MUTANTS:+--size $$MUTANTS}

format: .venv/installed-dev ## Format the code and mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: .venv/installed-dev ## Lock the requirements anew, with hashes and without index addresses
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --upgrade pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --upgrade --extra telemetry -c requirements.txt pyproject.toml -o requirements-telemetry.txt
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --upgrade --group dev pyproject.toml -o requirements-dev.txt
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --upgrade --group mutation -c requirements-dev.txt pyproject.toml -o requirements-mutation.txt

clean: ## Remove what was installed and made
	rm -rf .venv .static .mypy_cache .ruff_cache .pytest_cache .hypothesis .alone.log .beside.log

.venv/bin/python:
	$(if $(shell $(PYTHON) -c 'import sys; print(sys.version_info >= (3, 12) or "")' 2>/dev/null),,$(error \
		intents-ui needs Python 3.12 or newer, and $(PYTHON) is not. Try: make $(MAKECMDGOALS) PYTHON=python3.13))
	@$(PYTHON) -m venv .venv

.venv/installed: requirements.txt | .venv/bin/python
	@echo "Installing what the dashboard runs on ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@touch $@

.venv/installed-dev: requirements-dev.txt .venv/installed
	@echo "Installing what the tests run on ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@

.venv/installed-mutation: requirements-mutation.txt .venv/installed-dev
	@echo "Installing what changes the code for \`make mutation\` ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-mutation.txt
	@touch $@
