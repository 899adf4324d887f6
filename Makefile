# Every target makes the virtual environment itself if needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Real photographs and golden arrays for tests and benchmarks, where they are at hand.
SHARED ?= $(wildcard ../shared)
PYTEST := $(BIN)/python -m pytest $(if $(SHARED),--shared=$(SHARED))

.PHONY: env demo test lint bench long clean

env: $(VENV)/.made

$(VENV)/.made: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@

demo: env
	rm -rf demo
	$(BIN)/samecam simulate -o demo/photos --cameras 6 --images 20 --size 1024x768
	$(BIN)/samecam cluster demo/photos/images -o demo/case
	$(BIN)/samecam evaluate demo/case --truth demo/photos/truth.csv

test: env
	$(PYTEST)

lint: env
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: env
	$(BIN)/python -m benchmarks.residual
	$(BIN)/python -m benchmarks.extraction
	$(BIN)/python -m benchmarks.gram
	$(BIN)/python -m benchmarks.lasso
	$(BIN)/python -m benchmarks.consolidated $(if $(SHARED),--shared $(SHARED))
	$(BIN)/python -m benchmarks.gamma $(if $(SHARED),--shared $(SHARED))

# Slow checks: kill loops and the like. Not part of CI.
long: env
	$(PYTEST) --long -m long

clean:
	rm -rf $(VENV) demo build dist
