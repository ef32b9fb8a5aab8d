# Two commands for people: `make demo` and `make test`. Both set up what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: install demo test lint browser test-browser speed clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[test]"
	@touch $@

demo: install
	@$(BIN)/ncgc demo

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# Two processes, a file of tests at a time: what a file sets up is made once.
test: install lint browser
	$(BIN)/python -m pytest -n 2 --dist loadfile

# What the report's browser tests need: playwright, and a chromium from apt-get where there is none and we may install one.
# Where it cannot be had this says so and goes on; the tests then skip themselves.
browser: install
	@$(BIN)/python -c "import playwright" 2>/dev/null || \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[browser]" || \
	  echo "playwright could not be installed: the browser tests will be skipped."
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "Installing chromium with apt-get." && \
	    timeout 300 sh -c 'apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install chromium' >/dev/null 2>&1; } || \
	  echo "There is no chromium, and it could not be installed (root and apt-get are needed): the browser tests will be skipped."

test-browser: browser
	$(BIN)/python -m pytest tests/report/test_browser.py -rs

speed: install
	$(BIN)/python benchmarks/speed.py

clean:
	rm -rf $(VENV) build *.egg-info src/*.egg-info
