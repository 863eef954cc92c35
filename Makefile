# Everything a newcomer needs. Each target makes its own virtual environment first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
OUT    ?= demo-output

.PHONY: help demo serve test check bench corpus clean
help:  ## this list
	@sed -n 's/^\([a-z]*\):.*##/\1\t/p' $(MAKEFILE_LIST)

$(VENV)/.runtime: requirements/runtime.txt requirements/build.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Paraph needs Python 3.11 or newer." if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/build.txt -r requirements/runtime.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable . --editable clients/python
	@touch $@

$(VENV)/.development: requirements/development.txt $(VENV)/.runtime
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/development.txt
	@touch $@

demo: $(VENV)/.runtime  ## the whole job over HTTP: upload, sign, seal, prove, verify   [PDF=file] [OUT=folder]
	$(BIN)/paraph demo $(if $(PDF),--pdf "$(PDF)") --out "$(OUT)"

serve: $(VENV)/.runtime  ## the service on 127.0.0.1:8000, everything embedded
	$(BIN)/paraph serve

test: $(VENV)/.development  ## the tests
	$(BIN)/python -m pytest $(ARGS)

check: $(VENV)/.development  ## ruff, mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.development  ## seals per second and whole flows per second on this machine
	$(BIN)/python -m benchmarks

corpus: $(VENV)/.development  ## seals every PDF of a folder and has others judge the results   DIR=folder
	$(BIN)/python -m benchmarks.corpus "$(DIR)"

clean:  ## removes the virtual environment
	rm -rf $(VENV)
