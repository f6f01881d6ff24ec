# make demo: set up and run the main job.  make test: what tests need, and the tests.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
REQUIRE ?=
WHEELS ?=
SITE   ?= build/gpu
PYTEST_ARGS ?=

.PHONY: demo test check format gpu bench clean

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[cuda]'
	touch $@

$(VENV)/.installed-dev: pyproject.toml $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: $(VENV)/.installed
	PATH="$(abspath $(BIN)):$$PATH" sh examples/demo.sh

test: check
	$(BIN)/python -m pytest -n auto $(foreach marker,$(REQUIRE),--require $(marker)) $(PYTEST_ARGS)

check: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# On a machine without a package index: WHEELS=DIR, a folder that scripts/carry.py packed.
gpu:
	$(if $(WHEELS),PYTHONPATH=src $(PYTHON) scripts/carry.py unpack $(WHEELS) $(SITE))
	$(if $(WHEELS),BURNISH_CACHE=$(abspath $(SITE))/cache PYTHONPATH=src:.:$(SITE)) \
	  $(PYTHON) -m pytest tests/gpu --require gpu $(PYTEST_ARGS)

bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
