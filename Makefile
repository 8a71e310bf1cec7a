# Everything starts from a fresh machine with Python 3.11 (or newer) and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# As many workers as tests/conftest.py says; whoever is done takes tests from the others.
TEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist worksteal

.PHONY: setup run test image check check-all bench strength clean

setup: $(STAMP)  ## virtual environment with the project installed editable, kernels compiled
	$(BIN)/kempelen warmup

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

run: setup  ## speak UCI on standard input and output
	$(BIN)/kempelen uci

test: setup  ## run the tests
	$(TEST)

image: setup  ## build the container image and play in it: as root, with Debian's buildah
	$(BIN)/python -m pytest --image tests/docker

check: $(STAMP)  ## lint, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check-all: setup check  ## check, and run the tests thoroughly: all that is, and more of it
	$(TEST) --thorough

bench: setup  ## nodes and speed of a fixed search
	$(BIN)/kempelen bench

# Against each opponent, at seconds+increment; JSON=FILE writes the table there too.
GAMES ?= 200
TC ?= 10+0.1
strength: setup  ## a gauntlet against other engines: ratings on the scale of Stockfish's UCI_Elo
	$(BIN)/python benchmarks/strength.py --games $(GAMES) --tc $(TC) $(if $(JSON),--json $(JSON))

clean:
	rm -rf $(VENV)
