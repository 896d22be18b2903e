# On a fresh Debian machine, as root, `make demo` and `make test` install what they need themselves.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --no-input --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest

.PHONY: help demo test test-mysql lint format pages bench bench-check torture servers shells clean

help: ## Show these targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.package ## Write conversations into a throw-away home, then list, search, resume and count them.
	@$(BIN)/python examples/demo.py

test: $(VENV)/.dev servers shells lint ## Check and test everything.
	$(PYTEST) -n 2 -m "not alone"
	$(PYTEST) -m alone
	$(BIN)/python -m benchmarks.check

lint: $(VENV)/.dev ## Check style, types and layers.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/python tools/check_layers.py

format: $(VENV)/.dev ## Put the code into shape.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

pages: $(VENV)/.dev ## Write docs/commands/ anew from the help of the commands.
	$(BIN)/python tools/command_pages.py

bench-check: $(VENV)/.dev ## Look whether a hot path has become slow; part of `test`.
	$(BIN)/python -m benchmarks.check

bench: $(VENV)/.dev servers ## Measure against hand-written loops and libraries from PyPI; writes docs/benchmarks/.
	$(BIN)/python -m benchmarks --full --out docs/benchmarks

torture: $(VENV)/.dev servers ## Run the long forms of the kill, timing and many-process tests.
	SESSIONDB_TORTURE=1 $(PYTEST) -m alone -s

test-mysql: $(VENV)/.dev ## Run the laws and the tests of that backend on MySQL 8: make test-mysql MYSQLD=/usr/sbin/mysqld
	@[ -x "$(MYSQLD)" ] || { echo "name a server of MySQL 8: make test-mysql MYSQLD=/usr/sbin/mysqld" >&2; exit 2; }
	SESSIONDB_MYSQLD=$(MYSQLD) $(PYTEST) tests/providers/test_mysql.py tests/mysql \
	    tests/upkeep/test_upkeep_servers.py tests/moving

shells:
	@tools/setup.sh shells

servers:
	@tools/setup.sh servers

# The stamps are made last: an interrupted installation is taken up again.
$(VENV)/.package: pyproject.toml
	@tools/setup.sh venv $(VENV)
	$(PIP) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.package Makefile
	$(PIP) -e '.[dev,import,postgres,mysql,regex,cost,llm,mcp,tui,telegram]'
	@touch $@

clean: ## Remove the virtualenv and all caches.
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
