# make demo   the main job on the embedded example; its report is runs/rotten_tomatoes/report.html
# make test   everything that must hold: lint, types, all fast tests
# Both set up .venv first, once. PYTHON=python3.12 chooses another interpreter.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: setup demo test lint slow results clean

setup: $(READY)

# the stamp depends on what decides the environment, so that a changed pin sets up again
$(READY): pyproject.toml constraints.txt tools/setup $(wildcard src/niwaki/engines/native/c/*)
	PYTHON=$(PYTHON) sh tools/setup

demo: setup
	$(BIN)/niwaki run

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

test: lint
	$(BIN)/pytest -m "not slow"

slow: setup
	$(BIN)/pytest -m slow -s

results: setup
	$(BIN)/python benchmarks/render.py

clean:
	rm -rf .venv runs build
