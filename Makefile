# Two commands do everything on a fresh machine: `make demo` and `make test`. No key is needed, and no network beyond
# the package registries that pip and apt are set up for.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PRODUCT := $(VENV)/.product
STAMP := $(VENV)/.development
JOBS ?= 3

.PHONY: demo test lint ui bench schemas clean

demo: $(PRODUCT) system
	$(BIN)/vvb run
	@echo
	@echo "Open the graph behind these figures:   $(BIN)/vvb ui      then http://127.0.0.1:3000"
	@echo "Trace a score down to its evidence:    $(BIN)/vvb explain raster GEARS"

test: $(STAMP) system database engine lint
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --no-loadscope-reorder

# What `make test` does at a tenth of the size, at the size of the paper: 9 systems, 239 tasks, 3 panels.
.PHONY: test-full
test-full: $(STAMP)
	VVB_EXACT_TASKS=239 $(BIN)/python -m pytest -n 0 --durations=0 tests/exact
	VVB_KILLS=each $(BIN)/python -m pytest -n 0 -s tests/deploy/test_kills.py tests/deploy/test_ui_kills.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/vvb lint task_data/starter
	$(BIN)/vvb lint task_data/paper

ui: $(PRODUCT)
	$(BIN)/vvb ui

bench: $(STAMP)
	$(BIN)/python -m benchmarks.plan_speed
	$(BIN)/python -m benchmarks.fit_speed
	$(BIN)/python -m benchmarks.event_speed

schemas: $(STAMP)
	$(BIN)/python -m vvb_resources.benchmark.schema

# The environment is made again when the package's metadata changes: what a user needs, or with it what the tests need.
$(PRODUCT): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info[:2] >= (3, 11) else "Python 3.11 or newer is needed: set PYTHON=...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $(PRODUCT)

$(STAMP): $(PRODUCT)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,judges,postgres,docker]'
	@touch $(STAMP)

# bubblewrap closes the sandbox's network and file system. Without it everything runs, and each result says so.
.PHONY: system
system:
	@command -v bwrap >/dev/null 2>&1 || deploy/install-bubblewrap || true

# PostgreSQL's programs, for the tests of a shared deployment (docs/deployment.md); nothing else needs them.
.PHONY: database
database:
	@command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || deploy/install-postgresql || true

# A Docker engine's programs, for the tests of sandboxes in containers, which start an engine of their own.
.PHONY: engine sandbox-image
engine:
	@command -v dockerd >/dev/null 2>&1 || test -x /usr/sbin/dockerd || deploy/install-docker || true

# The image that agents work in (docs/agents.md); BASE=... for another base image.
sandbox-image:
	deploy/sandbox/build $(if $(BASE),--base $(BASE))

clean:
	rm -rf .venv .vvb build *.egg-info

# The whole leaderboard at three sizes: time and peak memory, then Bradley-Terry beside its peers (docs/performance.md).
# The largest size takes a few minutes.
.PHONY: bench-score
bench-score: $(STAMP)
	$(BIN)/python -m benchmarks.score
	$(BIN)/python -m benchmarks.fit_speed

# Two thousand damaged files through L1 (the tests take three hundred); exit 1 when one of them is not told as it is.
.PHONY: fuzz bench-l1
fuzz: $(STAMP)
	$(BIN)/python -m tests.media.fuzzing --files 2000

# L1's CPU, wall and memory beside a bare full decode of the same file; writes the section of docs/performance.md.
bench-l1: $(STAMP)
	$(BIN)/python -m benchmarks.l1 --write
