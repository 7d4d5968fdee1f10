# make demo   the main job on the embedded example; its report is runs/rotten_tomatoes/report.html
# make test   everything that must hold: lint, types, all fast tests
# make slow, make sanitize, make results: see below
# Both set up .venv first, once. PYTHON=python3.12 chooses another interpreter.

PYTHON ?= python3
# two cores are what the tests are timed for; more processes are for larger machines
PROCESSES ?= 2
BIN := .venv/bin
READY := .venv/ready

.PHONY: setup demo test lint slow sanitize results clean

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
	$(BIN)/pytest -m "not slow" -n $(PROCESSES) --dist worksteal

slow: setup
	$(BIN)/pytest -m slow -s

# the native engine's tests with every memory access and every sum checked; needs gcc
SANITIZED := build/sanitized.so
sanitize: setup
	mkdir -p build
	gcc -O1 -g -std=gnu11 -fPIC -shared -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-sanitize=alignment \
	  src/niwaki/engines/native/c/*.c -o $(SANITIZED) -lm
	NIWAKI_KERNELS=$(abspath $(SANITIZED)) LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0 $(BIN)/python -m pytest tests/engines/native tests/engines/test_export.py tests/engines/test_exits.py

results: setup
	$(BIN)/python benchmarks/render.py

clean:
	rm -rf .venv runs build
