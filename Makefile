# Every target makes the virtual environment it needs; nothing has to be done first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: run test lint bench soak lock clean

run: $(READY)
	@$(BIN)/switchboard play $(ARGS)

# Much of what the tests do is waiting, for sockets, databases and processes: three of them share two cores well.
# Rewriting their assertions takes each of the three some seconds, so the result is kept.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(READY)
	@$(BIN)/python -m pytest -n 3 --dist worksteal --cov --cov-report= $(ARGS)
	@$(BIN)/coverage report --fail-under=95
	@$(BIN)/coverage report --fail-under=100 --include=$$($(BIN)/python tests/pure_modules.py)

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright
	@$(BIN)/lint-imports

bench: $(READY)
	@$(BIN)/python -m benchmarks $(ARGS)

# People talk for five minutes (ARGS="--minutes 5") while the bot is killed; fails when a message suffers.
soak: $(READY)
	@$(BIN)/python -m benchmarks.soak $(ARGS)

# The lock names no index address and pins every file by hash, so pip installs the same bytes everywhere.
lock: $(READY)
	@$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --python-version 3.11 pyproject.toml -o requirements.lock
	@$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --python-version 3.11 --extra dev --extra semantic pyproject.toml -o requirements-dev.lock

clean:
	@rm -rf $(VENV) .coverage .coverage.* htmlcov

$(READY): requirements-dev.lock pyproject.toml
	@echo "Installing into $(VENV) …"
	@$(PYTHON) -c 'import sys; sys.exit("Switchboard needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-input --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-input --no-deps --no-build-isolation -e .
	@touch $@
