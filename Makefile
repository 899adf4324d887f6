# Every target makes the virtual environment itself if needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Real photographs and golden arrays for tests and benchmarks, where they are at hand.
SHARED ?= $(wildcard ../shared)
# Processes that run tests, side by side: one more than there are cores on a small machine, because
# many tests wait, for processes that start, hang or are killed.
JOBS ?= 3
PYTEST := $(BIN)/python -m pytest $(if $(SHARED),--shared=$(SHARED))
# Tests start hundreds of processes, each of which would compile the sources anew.
unexport PYTHONDONTWRITEBYTECODE
# Whoever is free takes tests that another has not begun with.
SIDE_BY_SIDE := -n $(JOBS) --dist worksteal

.PHONY: env demo test check browser lint docs bench experiments quick long soak release clean

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
	@echo "Open demo/case/report.html"

# What must hold, in minutes and with nothing but the environment above.
test: env
	$(PYTEST) $(SIDE_BY_SIDE)

# The rest of what must hold: form and types, slow tests, and those that need PyTorch
# (`pip install torch`), a browser (`make browser`) or the extra `validate`. What is not there is
# skipped, unless its mark is in SAMECAM_NEEDS, as in SAMECAM_NEEDS="torch browser validator".
check: lint
	$(PYTEST) $(SIDE_BY_SIDE) --slow -m "slow or torch or browser or validator"

# The browser that tests of the report use, on Debian.
browser:
	command -v chromium >/dev/null && command -v chromedriver >/dev/null || { \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
	    --no-install-recommends chromium chromium-driver fonts-dejavu-core >/dev/null; }

lint: env
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, into build/docs: index.html. A link that leads nowhere, or any other warning, ends it.
docs: $(VENV)/.docs build/gallery/.made
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --write-all --jobs 2 \
	    -d build/doctrees docs build/docs
	@echo "Open build/docs/index.html"

$(VENV)/.docs: $(VENV)/.made
	$(BIN)/pip install --quiet --editable '.[docs]'
	touch $@

# What the examples of docs/examples are run on; kept until the environment changes.
build/gallery/.made: $(VENV)/.made
	rm -rf build/gallery
	$(BIN)/samecam simulate -o build/gallery/disk --cameras 4 --images 12 --outliers 3 --size 1024x768 \
	    --zoom .35 --max-zoom 2 --seed 4 --quiet
	$(BIN)/samecam cluster build/gallery/disk/images -o build/gallery/case --quiet
	$(BIN)/samecam simulate -o build/gallery/collection --cameras 5 --images 12 --size 640x480 --seed 1 --quiet
	$(BIN)/samecam extract build/gallery/collection/images -o build/gallery/squares --size 400 --quiet
	touch $@

bench: env
	$(BIN)/python -m benchmarks.residual
	$(BIN)/python -m benchmarks.extraction
	$(BIN)/python -m benchmarks.frames
	$(BIN)/python -m benchmarks.quantised $(if $(SHARED),--shared $(SHARED))
	$(BIN)/python -m benchmarks.gram
	$(BIN)/python -m benchmarks.bits
	$(BIN)/python -m benchmarks.lasso
	$(BIN)/python -m benchmarks.consolidated $(if $(SHARED),--shared $(SHARED))
	$(BIN)/python -m benchmarks.phases
	$(BIN)/python -m benchmarks.start
	$(BIN)/python -m benchmarks.large_scale $(if $(SHARED),--shared $(SHARED))
	$(BIN)/python -m benchmarks.rivals $(if $(SHARED),--shared $(SHARED))
	$(BIN)/python -m benchmarks.calibration $(if $(SHARED),--shared $(SHARED))
	$(BIN)/python -m benchmarks.dask_tasks
	$(BIN)/python -m benchmarks.consolidated_study $(if $(SHARED),--shared $(SHARED))
	$(BIN)/python -m benchmarks.gamma $(if $(SHARED),--shared $(SHARED))
	$(BIN)/python -m benchmarks.damage $(if $(SHARED),--shared $(SHARED))
	$(BIN)/python -m benchmarks.recompressed $(if $(SHARED),--shared $(SHARED))
	$(if $(SHARED),$(BIN)/python -m benchmarks.filters --shared $(SHARED))
	$(if $(SHARED),$(BIN)/python -m benchmarks.stamps --shared $(SHARED))
	$(BIN)/python -m benchmarks.copies $(if $(SHARED),--shared $(SHARED))
	$(BIN)/python -m benchmarks.cameras $(if $(SHARED),--shared $(SHARED))
	$(BIN)/python -m benchmarks.review
	$(BIN)/python -m benchmarks.pages

# The paper's tables and figures again, into results/ and docs/results.md. Hours; it goes on where
# it was stopped. `make experiments QUICK=--quick` is the short form of it.
experiments: env
	for name in $$($(BIN)/samecam experiment list | cut -d' ' -f1); do \
	    $(BIN)/samecam experiment $$name $(QUICK) --quiet || exit 1; done
	$(BIN)/samecam experiment page

# All of them in short, from nothing and beside the results that stand: at most 30 minutes.
quick: env
	rm -rf studies/quick
	for name in $$($(BIN)/samecam experiment list | cut -d' ' -f1); do \
	    $(BIN)/samecam experiment $$name --quick --quiet -o studies/quick/$$name \
	        --results studies/quick/results || exit 1; done
	$(BIN)/samecam experiment page --results studies/quick/results --docs studies/quick

# Kill loops and the like, for minutes to hours. Not part of CI.
long: env
	$(PYTEST) --long -m long
	timeout 30m $(MAKE) quick

# Damaged photos, kills of every command, decisions, tampered cases, failing disks, summed into
# benchmarks/results/soak.json: one round of some minutes, or rounds for `HOURS=8` or `MINUTES=20`.
# Stopped or killed, the same command goes on.
soak: env
	$(BIN)/python -m benchmarks.soak $(if $(HOURS),--hours $(HOURS)) $(if $(MINUTES),--minutes $(MINUTES))

# The checklist of a release, with what is left for a person at the end; archives into dist/.
# `make release RELEASE=--tests` runs all tests, too.
release: env
	$(BIN)/pip install --quiet twine
	$(BIN)/python -m release.check $(RELEASE)

clean:
	rm -rf $(VENV) demo build dist docs/gallery
