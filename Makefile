# make demo    install into .venv and train the digits example
# make test    lint, types and the tests
# make help    the rest
#
# Needs nothing beforehand but Python 3.10 to 3.13 and a package index.

VENV ?= .venv
EXTRAS ?= test
BIN := $(VENV)/bin

# The first Python on the path that is recent enough and whole (some distributions ship one without ensurepip).
PYTHON ?= $(shell for python in python3.12 python3.11 python3.13 python3.10 python3 python; do \
    if $$python -c 'import ensurepip, ssl, sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; \
    then command -v $$python; break; fi; done)

.PHONY: help demo test lint types slow fuzz fuzz-tensorflow conformance without cuda-simulator gpu bench peers clean

help:
	@echo 'make demo         install into $(VENV) and train the digits example'
	@echo 'make test         ruff, mypy and the tests (EXTRAS=test,cuda: also the tests that compile for CUDA)'
	@echo 'make lint         ruff and mypy alone'
	@echo 'make slow         tests of minutes: networks, whole tables of calls, all object code (EXTRAS=test,cuda)'
	@echo 'make fuzz         random graphs, compiled against reference, for as long as FUZZ_EXAMPLES says'
	@echo 'make fuzz-tensorflow TENSORFLOW=python  random programs, beside TensorFlow 1.15, which that Python has'
	@echo 'make conformance  the TensorFlow 1 conformance suite, by reference and compiled, by both compilers'
	@echo 'make without      conformance and fuzz once more for every optimisation, with that one switched off'
	@echo 'make cuda-simulator  conformance and tests of graphs through the kernels for CUDA, on a simulated grid'
	@echo 'make gpu          where there is an NVIDIA GPU: the driver, conformance and the benchmark on it, into build/gpu.md'
	@echo 'make bench        the benchmarks; with "make peers" before it, beside TensorFlow, JAX, torch and PyTensor'
	@echo 'make clean        remove $(VENV) and everything built'

demo: $(VENV)/installed
	$(BIN)/jitgraph run examples/digits_mlp.py

test: lint
	$(BIN)/python -m pytest tests -n auto --maxprocesses=8 --dist worksteal --session-timeout=1800

lint: types
	$(BIN)/ruff check .

# mypy does not follow the folder mapping of an editable install, so it is shown the installed layout by links.
types: $(VENV)/installed-$(EXTRAS)
	@rm -rf build/layout && mkdir -p build/layout/jitgraph
	@ln -s $(CURDIR)/jitgraph/* $(CURDIR)/compiler $(CURDIR)/runtime build/layout/jitgraph/
	@find build/layout/jitgraph -maxdepth 1 -name '__pycache__' -delete
	cd build/layout && $(abspath $(BIN))/mypy --config-file $(CURDIR)/pyproject.toml --cache-dir $(CURDIR)/.mypy_cache -p jitgraph

# What is too long for `make test` and stands in no target below.
slow: $(VENV)/installed-$(EXTRAS)
	$(BIN)/python -m pytest tests --ignore tests/conformance --ignore tests/fuzz -m 'slow and not gpu' --timeout=600

FUZZ_EXAMPLES ?= 2000
fuzz: $(VENV)/installed-$(EXTRAS)
	JITGRAPH_FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) $(BIN)/python -m pytest tests/fuzz -m 'slow or not slow' --timeout=0

# FUZZ_PROGRAMS seeds of each kind from FUZZ_FIRST on; what differs is shrunk, printed and kept in build/differences.
FUZZ_FIRST ?= 0
FUZZ_PROGRAMS ?= 300
fuzz-tensorflow: $(VENV)/installed-$(EXTRAS)
	@test -n '$(TENSORFLOW)' || { echo 'name a Python that has TensorFlow 1.15: make $@ TENSORFLOW=/path/to/python' >&2; exit 1; }
	cd tests/fuzz && $(abspath $(BIN))/python -m differential.hunt --tensorflow $(TENSORFLOW) --first $(FUZZ_FIRST) \
	    --count $(FUZZ_PROGRAMS) --found $(CURDIR)/build/differences

conformance: $(VENV)/installed-$(EXTRAS)
	$(BIN)/python -m pytest tests/conformance -m 'slow or not slow'
	JITGRAPH_COMPILER=numba $(BIN)/python -m pytest tests/conformance -m 'slow or not slow'

# The names are those of one list in compiler/options.py; all are tried, whatever fails.
WITHOUT_EXAMPLES ?= 300
without: $(VENV)/installed-$(EXTRAS)
	@failed=; for name in $$($(BIN)/python -c 'from jitgraph.compiler.options import OPTIMISATIONS; print(*OPTIMISATIONS)'); do \
	    echo "without $$name"; \
	    JITGRAPH_WITHOUT=$$name JITGRAPH_FUZZ_EXAMPLES=$(WITHOUT_EXAMPLES) $(BIN)/python -m pytest --timeout=0 \
	        tests/conformance tests/fuzz -k 'not switched_off and not all_programs' -m 'slow or not slow' || failed="$$failed $$name"; \
	done; test -z "$$failed" || { echo "fails without:$$failed" >&2; exit 1; }

# Kernels for CUDA, run on a simulated grid: ten minutes with two cores.
cuda-simulator: $(VENV)/installed-$(EXTRAS)
	JITGRAPH_TARGET=cuda-simulator $(BIN)/python -m pytest tests/conformance tests/control tests/variables tests/train tests/autodiff \
	    -m 'slow or not slow' --timeout=600

gpu:
	$(MAKE) EXTRAS=test,cuda,cublas,cudnn $(VENV)/installed-test,cuda,cublas,cudnn
	@JITGRAPH_TARGET=cuda $(BIN)/jitgraph doctor || { echo 'make gpu needs a GPU that serves: mend what is BROKEN above' >&2; exit 1; }
	$(BIN)/python -m pytest -m gpu tests/runtime/cuda
	JITGRAPH_TARGET=cuda $(BIN)/python -m pytest tests/conformance -n auto --maxprocesses=8
	$(BIN)/jitgraph bench --device gpu --markdown build/gpu.md --json build/gpu.json

bench: $(VENV)/installed
	$(BIN)/jitgraph bench

peers: $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[bench]'

$(BIN)/python:
	@test -n '$(PYTHON)' || { echo 'No Python 3.10 to 3.13 with ensurepip on the path; name one: make PYTHON=/path/to/python' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Editable, so that the sources here are what runs; done again only when the requirements change.
$(VENV)/installed: pyproject.toml setup.py | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/installed-$(EXTRAS): pyproject.toml setup.py | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[$(EXTRAS)]'
	@touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
