# make demo   the main job on the embedded example; its report is runs/rotten_tomatoes/report.html
# make test   everything that must hold: lint, types, all fast tests
# make slow, make sanitize, make cross, make results, make docs: see below
# Both set up .venv first, once. PYTHON=python3.12 chooses another interpreter.

PYTHON ?= python3
# two cores are what the tests are timed for (a third process on them took 14 s longer); more processes are for larger machines
PROCESSES ?= 2
BIN := .venv/bin
READY := .venv/ready

.PHONY: setup demo test lint slow sanitize cross results docs clean

setup: $(READY)

# the stamp depends on what decides the environment, so that a changed pin sets up again
$(READY): pyproject.toml constraints.txt tools/setup $(wildcard src/niwaki/engines/native/c/* src/niwaki/models/fused/c/*)
	PYTHON=$(PYTHON) sh tools/setup

demo: setup
	$(BIN)/niwaki run

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

test: lint
	$(BIN)/pytest -m "not slow" -n $(PROCESSES) --dist loadfile

slow: setup
	$(BIN)/pytest -m slow -s

# all compiled kernels with every memory access and every sum checked (gcc's sanitizers), and every read of memory that nobody wrote
# (valgrind, whose interpreter runs without pymalloc so that each block is known); needs gcc and valgrind. Reports are in build/*.log.*
# The training kernels are compiled over instructions in plain C, as sanitizers do not see what AVX-512 reads under a mask.
NATIVE := src/niwaki/engines/native/c
TRAINING := src/niwaki/models/fused/c
CHECK_READS := gcc -O1 -g -std=gnu11 -ffp-contract=off -fPIC -shared -pthread tests/engines/native/memcheck.c
CHECK_ACCESSES := gcc -O1 -g -std=gnu11 -ffp-contract=off -fPIC -shared -fsanitize=address,undefined -fno-sanitize-recover=undefined
EMULATED := -DNIWAKI_EMULATED -Wno-psabi -Itests/models/fused/emulated
VALGRIND := PYTHONMALLOC=malloc OMP_WAIT_POLICY=passive valgrind --quiet --error-limit=no
SANITIZERS = LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0:log_path=$(abspath build)/accesses.log UBSAN_OPTIONS=log_path=$(abspath build)/accesses.log
PYTEST := $(BIN)/python -m pytest -m "not slow"

.PHONY: sanitize-native sanitize-training valgrind
sanitize: sanitize-native sanitize-training

valgrind: setup
	@command -v valgrind > /dev/null && test -e /usr/include/valgrind/memcheck.h || \
	  { echo "make sanitize: valgrind and its headers are not installed, and uninitialized reads would go unchecked; apt-get install valgrind" >&2; exit 1; }
	mkdir -p build

sanitize-native: valgrind
	$(CHECK_READS) $(NATIVE)/*.c -o build/native_reads.so -lm
	cd tests && NIWAKI_KERNELS=$(abspath build/native_reads.so) $(VALGRIND) --log-file=$(abspath build)/memcheck.log \
	  $(abspath $(BIN))/python -m engines.native.memcheck
	$(CHECK_ACCESSES) -fno-sanitize=alignment $(NATIVE)/*.c -o build/native_accesses.so -lm
	NIWAKI_KERNELS=$(abspath build/native_accesses.so) $(SANITIZERS) \
	  $(PYTEST) tests/engines/native tests/engines/test_export.py tests/engines/test_exits.py

sanitize-training: valgrind
	$(CHECK_READS) $(EMULATED) $(TRAINING)/training.c -o build/training_reads.so -lm
	cd tests && NIWAKI_TRAINING_KERNELS=$(abspath build/training_reads.so) $(VALGRIND) --log-file=$(abspath build)/memcheck_training.log \
	  $(abspath $(BIN))/python -m models.fused.memcheck
	$(CHECK_ACCESSES) $(EMULATED) $(TRAINING)/training.c -o build/training_accesses.so -lm
	NIWAKI_TRAINING_KERNELS=$(abspath build/training_accesses.so) $(SANITIZERS) $(PYTEST) tests/models/fused

# kernels for another processor: compiled for aarch64 and run by qemu, on processors without products of bytes, with dotprod, and with i8mm;
# needs gcc-aarch64-linux-gnu and qemu-user
CROSS := qemu-aarch64 -L /usr/aarch64-linux-gnu
cross:
	mkdir -p build
	aarch64-linux-gnu-gcc -O3 -std=gnu11 -fno-math-errno -ffp-contract=off -pthread -I$(NATIVE) $(NATIVE)/*.c tests/engines/native/cross.c -o build/cross -lm
	$(CROSS) -cpu cortex-a53 build/cross neon -neon_dot -neon_i8mm
	$(CROSS) -cpu neoverse-n1 build/cross neon neon_dot -neon_i8mm
	$(CROSS) -cpu max build/cross neon neon_dot neon_i8mm

results: setup
	$(BIN)/python benchmarks/render.py

# the documentation site in build/site; fails on broken links
docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf .venv runs build
