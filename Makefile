# `make demo` shows what SyncGuard finds, `make test` runs the tests. Both set up .venv first, and only when pyproject.toml changed.
.DEFAULT_GOAL := help
.PHONY: help demo test lint format bench device docs wheels clean

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
TORCH ?= torch==2.13.0
PIP := $(BIN)/python -m pip --disable-pip-version-check

help:
	@echo "make demo    'syncguard check' and 'syncguard run' on an example (installs torch, needs no GPU)"
	@echo "make test    run the tests (installs torch into $(VENV))"
	@echo "make lint    ruff, mypy and the import contracts"
	@echo "make format  let ruff format the code"
	@echo "make docs    write again the pages of docs/ that are generated"
	@echo "make bench   measure the speed of 'syncguard check'"
	@echo "make device  measure on the GPU of this machine, into evidence/"
	@echo "make wheels  build what is published, into dist/"
	@echo "make clean   remove $(VENV) and every cache"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "SyncGuard needs Python 3.11 or newer; found: $$($(PYTHON) --version 2>&1)"; exit 1; }
	@echo "Setting up $(VENV) with $(PYTHON)"
	@$(PYTHON) -m venv $(VENV)

# What a user gets: no torch.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "Installing SyncGuard"
	@$(PIP) install --quiet --editable .
	@touch $@

# What a developer needs: torch, pytest, ruff, mypy.
$(VENV)/.developing: pyproject.toml | $(BIN)/python
	@echo "Installing SyncGuard with its development tools (torch among them: this takes a while)"
	@$(PIP) install --quiet --editable ".[dev]"
	@touch $@ $(VENV)/.installed

# What a user who runs programs gets. The version is the one that the tests are pinned to.
$(VENV)/.running: pyproject.toml | $(BIN)/python
	@echo "Installing SyncGuard with torch, to run programs (this takes a while)"
	@$(PIP) install --quiet --editable ".[run]" "$(TORCH)" numpy
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.running
	@echo '$$ syncguard check examples/segmentation_loss.py'
	@$(BIN)/syncguard check examples/segmentation_loss.py --exit-zero
	@echo
	@echo '$$ syncguard run --device simulate --check examples/segmentation_loss.py'
	@$(BIN)/syncguard run --device simulate --check examples/segmentation_loss.py
	@echo
	@echo 'The same loss and gradients without a wait:'
	@echo '$$ syncguard run --device simulate --check --budget 0 examples/segmentation_loss_fixed.py'
	@$(BIN)/syncguard run --device simulate --check --budget 0 examples/segmentation_loss_fixed.py

test: $(VENV)/.developing
	$(BIN)/python -m pytest -q -n 2

lint: $(VENV)/.developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.developing
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.developing
	$(BIN)/python tools/atlas.py
	$(BIN)/python tools/docs.py

# `make bench ARGS="--part startup --quick"`; benchmarks/README.md has the options.
bench: $(VENV)/.developing
	$(BIN)/python benchmarks/bench.py $(ARGS)

# `make device ARGS="--part doctor"`, `ARGS=--dry-run`, `ARGS=--list`; evidence/README.md says what it is for.
device: $(VENV)/.developing
	$(BIN)/python tools/device/device.py $(ARGS)

# A compiled wheel is for this Python and system; the plain one is for all.
wheels: $(VENV)/.developing
	$(BIN)/python tools/wheels.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .syncguard_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
