# Two commands: `make run` shows the dashboard, `make test` checks everything.
PYTHON ?= python3
BIN := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help run dev check test bench fuzz format lock clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

run: .venv/installed ## Start the dashboard on http://127.0.0.1:8000 with the embedded service
	@exec $(BIN)/python -m gunicorn --config gunicorn.conf.py

dev: .venv/installed ## The same, restarting when a file changes
	@exec $(BIN)/python manage.py runserver

check: .venv/installed-dev ## Formatting, lint, types, import directions, known weaknesses
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	@.ci/audit

test: .venv/installed-dev ## All of that, then the tests
	@echo "Tests in a browser, and then two minutes of soak, run beside the rest, and what they say follows at the end"
	@{ $(BIN)/pytest tests/browser -o cache_dir=.pytest_cache/beside; browser=$$?; \
	$(BIN)/pytest tests/faults/test_soak.py -o cache_dir=.pytest_cache/beside && [ $$browser -eq 0 ]; } \
	>.beside.log 2>&1 & beside=$$!; \
	trap 'kill $$beside' INT TERM; \
	$(MAKE) --no-print-directory check || { kill $$beside; exit 1; }; \
	$(BIN)/pytest --ignore tests/browser -m "not soak"; others=$$?; \
	wait $$beside; beside=$$?; cat .beside.log; \
	[ $$others -eq 0 ] && [ $$beside -eq 0 ]

bench: .venv/installed-dev ## What the pages and the live part cost, written to bench/RESULTS.md (six minutes; leave the machine alone)
	@$(BIN)/python -m bench.pages --live

fuzz: .venv/installed-dev ## Odd answers and requests, FUZZ_EXAMPLES of each kind (2000), other ones each time
	@seed=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' '); echo "The seed is $$seed (--hypothesis-seed)"; \
	FUZZ_EXAMPLES=$${FUZZ_EXAMPLES:-2000} $(BIN)/pytest tests/faults/test_fuzz.py --hypothesis-seed=$$seed

format: .venv/installed-dev ## Format the code and mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: .venv/installed-dev ## Lock the requirements anew, with hashes and without index addresses
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --upgrade pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --upgrade --extra telemetry -c requirements.txt pyproject.toml -o requirements-telemetry.txt
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --upgrade --group dev pyproject.toml -o requirements-dev.txt

clean: ## Remove what was installed and made
	rm -rf .venv .static .mypy_cache .ruff_cache .pytest_cache .hypothesis .beside.log

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
