# Requirements: Python 3.11 or newer, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Stamps of the installations: to run, to serve web pages, and to test and check.
INSTALLED := $(VENV)/.installed
INSTALLED_WEB := $(VENV)/.installed-web
INSTALLED_DEV := $(VENV)/.installed-dev
# Standard output belongs to the engine; pip shows its progress only in a terminal.
INSTALL = $(BIN)/python -m pip install $$([ -t 2 ] || echo --quiet) --disable-pip-version-check

# tests/conftest.py sets the number of workers and the order of the files. A worker runs whole files,
# so that fixtures are created once. Bytecode is written in any case, as the tests start hundreds of
# programs.
TEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 \
	--dist loadfile --no-loadscope-reorder --durations 25

.PHONY: setup run web test bare image second-python check check-all translations bench strength clean

setup: $(INSTALLED_DEV)  ## virtual environment with the project installed editable, kernels compiled
	@echo 'setup: compiling the kernels (the first time about a minute on two cores)' >&2
	@$(BIN)/kempelen warmup
	@echo 'setup: compiling the table generator and the trainer (the first time about 10 s)' >&2
	@$(BIN)/python -c 'import agent.chess.endgames.retrograde, kempelen.training.gradients, kempelen.training.game_codec'

$(BIN)/python:
	@echo 'setup: creating the virtual environment $(VENV)' >&2
	@$(PYTHON) -m venv $(VENV)

$(INSTALLED): pyproject.toml | $(BIN)/python
	@echo 'setup: installing the product into $(VENV) (about half a minute)' >&2
	@$(INSTALL) --editable . >&2
	@touch $@

$(INSTALLED_WEB): pyproject.toml | $(BIN)/python
	@echo 'setup: installing the product and the extra web into $(VENV) (about half a minute)' >&2
	@$(INSTALL) --editable '.[web]' >&2
	@touch $(INSTALLED) $@

$(INSTALLED_DEV): pyproject.toml | $(BIN)/python
	@echo 'setup: installing the product and the tools for tests into $(VENV) (about a minute)' >&2
	@$(INSTALL) --editable '.[dev]' >&2
	@touch $(INSTALLED) $(INSTALLED_WEB) $@

run: $(INSTALLED)  ## speak UCI on standard input and output
	$(BIN)/kempelen warmup alphabeta >&2
	$(BIN)/kempelen uci

web: $(INSTALLED_WEB)  ## open the pages in a browser
	$(BIN)/kempelen warmup alphabeta >&2
	$(BIN)/kempelen web

test: setup  ## run the tests
	$(TEST)

bare:  ## make test in a container with Python, make and git alone: as root, with Debian's buildah
	$(PYTHON) -m tests.docker.bare

image: setup  ## build the container image and play in it: as root, with Debian's buildah
	$(BIN)/python -m pytest --image tests/docker

second-python:  ## play under another Python too: a selection of the tests
	PYTHON=$(PYTHON) scripts/second-python

check: $(INSTALLED_DEV)  ## lint, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check-all: setup check  ## check, and run all tests, the slow ones included
	$(TEST) --thorough

translations: $(INSTALLED_DEV)  ## compile the catalogues of kempelen/locale, after a change of a .po file
	$(BIN)/pybabel --quiet compile --domain kempelen --directory kempelen/locale

bench: $(INSTALLED)  ## nodes and speed of a fixed search
	$(BIN)/kempelen bench

# Against each opponent, at seconds+increment; JSON=FILE writes the table there too.
GAMES ?= 200
TC ?= 10+0.1
strength: $(INSTALLED)  ## play a gauntlet against other engines: ratings on the scale of Stockfish's UCI_Elo
	$(BIN)/python benchmarks/strength.py --games $(GAMES) --tc $(TC) $(if $(JSON),--json $(JSON))

clean:
	rm -rf $(VENV)
