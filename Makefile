# Every target does its own set-up: Python 3.11+ and make are all that it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Two sets: what generating needs (seconds), and all that tests and linters need besides.
STAMP := $(VENV)/.installed
GENERATES := $(VENV)/.generates
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# Whoever has the larger set needs no smaller one.
ENOUGH := $(if $(wildcard $(STAMP)),$(STAMP),$(GENERATES))
# The specs are here: what is generated has to be held to them.
export TOOLCAST_REQUIRE_SPECS := 1
# No test reads what a person types: they run the same without a terminal.
PYTEST := $(BIN)/python -m pytest -q </dev/null
CODE := generator/toolcast runtime/toolcast_runtime letta/toolcast_letta examples
# Processes that tests start would compile every module again.
unexport PYTHONDONTWRITEBYTECODE
# What says most in the shortest time, of the generator and of the runtime.
FAST := tests/rules tests/docs/test_docs_pages.py tests/encoders tests/parsing tests/rendering \
  tests/runtime tests/validation tests/values tests/access tests/router tests/test_structure.py

.DEFAULT_GOAL := help
.PHONY: generate check test test-fast lint format docs build test-slow test-pythons test-letta-fake test-letta test-postgres test-node test-servers test-browser test-display test-kill help letta-server fuzz bench load clean

##@ Every day

generate: $(ENOUGH) ## Generate generated/ from specs/
	@$(BIN)/python generator/spec_fields.py
	@$(BIN)/toolcast generate

check: $(ENOUGH) ## Check specs, rules and that generated/ is up to date
	@$(BIN)/python generator/spec_fields.py --check
	@$(BIN)/toolcast check

test: $(STAMP) ## Run the suite and the snapshot tests (up to 3 minutes on 2 cores); ROOM=http: tests/http
	@$(PYTEST) -n auto --dist worksteal $(if $(ROOM),tests/$(ROOM))

test-fast: $(STAMP) ## Run the most important tests, in half a minute
	@$(PYTEST) -n auto --dist worksteal $(FAST)

lint: $(STAMP) ## Run ruff, black and mypy --strict over the packages, generated and examples
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m black --check --quiet . || { echo "black would change files: make format"; exit 1; }
	@$(BIN)/python -m mypy $(CODE) generated

format: $(STAMP) ## Format the hand-written code
	@$(BIN)/python -m black --quiet $(CODE) tests letta/tests benchmarks docs
	@$(BIN)/python -m ruff check --fix --quiet $(CODE) tests letta/tests benchmarks docs

docs: $(STAMP) ## Build the documentation as a site into build/site/; a broken link ends it
	@$(BIN)/python -m properdocs build -f docs/website/properdocs.yml

build: $(STAMP) ## Build the wheels and source archives of the three distributions, with one version, into dist/
	@for folder in . runtime letta; do (cd $$folder && $(CURDIR)/$(BIN)/python -m hatchling build -d $(CURDIR)/dist) || exit 1; done

##@ Test suites that need more time, another program or a display

test-slow: $(STAMP) ## Run what takes long: real installs, hanging servers, properties tried often
	@TOOLCAST_THOROUGH=1 $(PYTEST) -n auto --dist worksteal -m "slow or thorough" tests generated letta/tests

test-pythons: $(STAMP) ## Run the fast part and generated code on each installed Python, 3.11 to 3.14; ALL=1: make test
	@$(BIN)/python tests/pythons.py $(if $(ALL),,$(FAST) generated)

test-letta-fake: $(STAMP) ## Run the tests of the extension for Letta, on a server of our own
	@$(PYTEST) -n auto --dist worksteal letta/tests

test-letta: $(STAMP) ## Run the tests against a real Letta 0.16.6 (sets it up once, 1.2 GB)
	@$(BIN)/python letta/tests/real/install.py && TOOLCAST_TEST_LETTA=1 $(PYTEST) -m letta letta/tests

test-postgres: $(STAMP) ## Run the tests against a real PostgreSQL and HAProxy (installs Debian's where missing)
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || apt-get install -y -q postgresql
	@command -v haproxy >/dev/null || apt-get install -y -q haproxy
	@TOOLCAST_TEST_POSTGRES=1 $(PYTEST) -m "not node" tests/deployment tests/ledger tests/lifespan tests/platform letta/tests/ren -k postgresql

test-node: $(STAMP) ## Run the conformance suite and the Inspector (sets up Node.js once)
	@$(BIN)/python -m tests.mcp.node_setup && $(PYTEST) -m node tests/mcp tests/watching tests/spec_language tests/package

test-servers: $(STAMP) ## Run the tests against servers that others wrote (sets them up once)
	@$(BIN)/python -m tests.external.third_party_setup && $(PYTEST) -m servers tests/external tests/oauth

test-browser: $(STAMP) ## Run the catalog in a real Chromium (needs chromium; sets up the rest once)
	@$(PIP) 'playwright>=1.50,<2'
	@$(BIN)/python -m tests.catalog.browser_setup && $(PYTEST) -m browser tests/catalog

test-display: $(STAMP) ## Run the tests that drive a real X display (needs xvfb xdotool scrot xterm)
	@$(PYTEST) -m display tests/display

test-kill: $(STAMP) ## Kill 200 runs at random moments; nothing may be torn or lost
	@TOOLCAST_KILLS=200 $(PYTEST) -m "" tests/output/test_killed_runs.py

##@ Others

help: ## Show this list, and what is installed
	@awk -F ':.*## ' '/^##@/ {print "\n" substr($$0, 5)} /^[a-z-]+:.*## / {printf "  %-16s%s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "$(VENV): $(if $(wildcard $(STAMP)),generating and tests are set up,$(if $(wildcard $(GENERATES)),generating is set up; \`make test\` adds what tests need,nothing is set up yet; \`make generate\` sets up what it needs))"

letta-server: $(STAMP) ## Run a real Letta 0.16.6 on a free port until Ctrl-C
	@$(BIN)/python -m letta.tests.real

fuzz: $(STAMP) ## Fuzz the YAML loader and the pipeline with atheris for five minutes
	@mkdir -p .toolcast/fuzz
	@$(PIP) 'atheris>=2.3,<4'
	@$(BIN)/python tests/fuzz/fuzz_loader.py -max_total_time=300 -max_len=6000 -timeout=10 $(CURDIR)/.toolcast/fuzz $(CURDIR)/specs/molecule $(CURDIR)/specs/kirishima $(CURDIR)/specs/ren

bench: $(STAMP) ## Print ratios of paired runs; PEERS=1, ONLY=part, QUICK=1, PAGE=1
	@$(BIN)/python benchmarks/bench.py

load: $(STAMP) ## Call mixed tools in 200 HTTP sessions, beside the plain SDK and FastMCP; SECONDS=120
	@$(BIN)/python benchmarks/load/load.py

clean: ## Remove the virtual environments and caches
	rm -rf $(VENV) $(VENV)-3.* .toolcast .pytest_cache .mypy_cache .ruff_cache

define VENV_MADE
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "Python 3.11 or newer is needed; set PYTHON=..."; exit 1; }
@echo "Setting up $(VENV) ($(1); once)"
@$(PYTHON) -m venv $(VENV)
endef

# The extension's client of Letta's API is for its commands: outputs are made without it.
$(GENERATES): pyproject.toml runtime/pyproject.toml letta/pyproject.toml
	$(call VENV_MADE,what generating needs)
	@$(PIP) -e ./runtime -e . && $(PIP) --no-deps -e ./letta
	@touch $@

$(STAMP): pyproject.toml runtime/pyproject.toml letta/pyproject.toml
	$(call VENV_MADE,all that tests need)
	@$(PIP) -e './runtime[mcp,router,langchain,cli,testing]' -e '.[dev]' -e ./letta
	@touch $@
