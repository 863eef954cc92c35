# Everything a newcomer needs. Each target makes its own virtual environment first.
PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11,$(shell \
	$(name) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(name))) python3)
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
OUT    ?= demo-output
JOBS   ?= 3
# What compiles the TypeScript client, where there is npm.
NODE_MODULES = $(shell command -v npm >/dev/null && echo clients/typescript/node_modules/.package-lock.json)
PYTEST  = $(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder

.PHONY: help demo serve test thorough check bench corpus odd chaos fuzz opinions screenshots pictures release pythons image clean
help:  ## this list
	@sed -n 's/^\([a-z]*\):.*##/\1\t/p' $(MAKEFILE_LIST)

$(VENV)/.runtime: requirements/runtime.txt requirements/build.txt pyproject.toml clients/python/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Paraph needs Python 3.11 or newer." if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "This Python cannot make virtual environments; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@test -x $(BIN)/python || { echo "Setting up $(VENV), once; this takes a minute."; $(PYTHON) -m venv $(VENV); }
	@$(PIP) install --require-hashes -r requirements/build.txt -r requirements/runtime.txt
	@$(PIP) install --no-build-isolation --no-deps --editable . --editable clients/python
	@touch $@

$(VENV)/.development: requirements/development.txt $(VENV)/.runtime $(NODE_MODULES)
	@$(PIP) install --require-hashes -r requirements/development.txt
	@touch $@

clients/typescript/node_modules/.package-lock.json: clients/typescript/package-lock.json
	@cd clients/typescript && npm ci --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

demo: $(VENV)/.runtime  ## the whole job over HTTP: upload, sign, seal, prove, verify   [PDF=file] [OUT=folder]
	@$(BIN)/python examples/demo.py $(if $(PDF),--pdf "$(PDF)") --out "$(OUT)"

serve: $(VENV)/.runtime  ## the service on 127.0.0.1:8000, everything embedded
	@$(BIN)/paraph serve

test: $(VENV)/.development  ## the tests   [ARGS=…] [JOBS=3]
	$(PYTEST) -m "not thorough" $(ARGS)

thorough: $(VENV)/.development  ## the tests that take their time: every fault in every mode, every look of a page   [ARGS=…] [JOBS=3]
	$(PYTEST) -m thorough $(ARGS)

check: $(VENV)/.development  ## ruff, mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.development  ## seals, whole flows and API calls per second on this machine; the signing page on a slow phone
	$(BIN)/python -m benchmarks

corpus: $(VENV)/.development  ## seals every PDF of a folder; two renderers, poppler and qpdf judge   DIR=folder [KEEP=folder]
	$(BIN)/python -m benchmarks.corpus "$(DIR)" $(if $(KEEP),--keep "$(KEEP)")

odd: $(VENV)/.development  ## odd PDFs of every class through a whole service   [COUNT=1000] [SEED=n]
	$(BIN)/python -m benchmarks.odd_files $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED))

chaos: $(VENV)/.development  ## 250 requests among faults, some to a mailbox that refuses, twice: with a supervisor and without; then answers are lost; then what others notice of a hostile tenant; then a standby takes over, in step and behind; then a bucket hangs, and a certificate ends; then two hosts, one of them lost   [SEED=n]
	$(BIN)/python -m lab.chaos.run $(if $(SEED),--seed $(SEED))
	$(BIN)/python -m lab.chaos.run --apart $(if $(SEED),--seed $(SEED))
	$(BIN)/python -m lab.chaos.dropped_answers
	$(BIN)/python -m lab.chaos.neighbours
	$(BIN)/python -m lab.chaos.failover
	$(BIN)/python -m lab.chaos.shared_parts
	$(BIN)/python -m lab.hosts.run

fuzz: $(VENV)/.development  ## hostile bytes; pairs of what was shown and sealed; sealed files altered without a key   [SECONDS=60] [CORPUS=folder] [SEED=n]
	$(BIN)/python -m lab.fuzz.run --seconds $(if $(SECONDS),$(SECONDS),60) $(if $(CORPUS),--corpus "$(CORPUS)") $(if $(SEED),--seed $(SEED))
	$(BIN)/python -m lab.fuzz.pairs --seconds $(if $(SECONDS),$(SECONDS),60) $(if $(SEED),--seed $(SEED))
	$(BIN)/python -m lab.fuzz.altered --seconds $(if $(SECONDS),$(SECONDS),60) $(if $(SEED),--seed $(SEED))

opinions: $(VENV)/.development  ## what OpenSSL, pyHanko, poppler and MuPDF say of sealed files and of altered ones: writes docs/second-opinions.md
	$(BIN)/python -m lab.opinions.run

screenshots: $(VENV)/.development  ## a picture of every page, mail, stamp and proof   OUT=folder [ONLY=states|steps|moments|languages|dashboard|mails|stamps|proofs]
	$(BIN)/python -m lab.pictures.screenshots "$(OUT)" $(ONLY)

pictures: $(VENV)/.development demo  ## the README's pictures, from a demo and from a newcomer's first five minutes
	$(BIN)/python -m docs.pictures "$(OUT)"
	$(BIN)/python -m lab.pictures.readme_pictures

release:  ## what is published: wheels, sources, SBOM; checked, and tried in a clean environment   [OUT=dist]
	scripts/release $(if $(filter-out demo-output,$(OUT)),"$(OUT)",dist)

pythons:  ## the tests of what a version of Python can break, under each one from 3.11 to 3.14 to be had here   [ONLY="3.13 3.14"]
	scripts/pythons $(ONLY)

image:  ## both images, by docker or buildah: their sizes, and the demo in one   [BASE=debian]
	BASE="$(BASE)" scripts/image

clean:  ## removes the virtual environment
	rm -rf $(VENV)
