# Each target creates the virtual environment it needs; only Python 3.11+ and make are required.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Two stamp files: STAMP_MIN for the packages that `make generate` needs (seconds to install),
# STAMP_DEV for these plus the tests' and linters' packages.
STAMP_DEV := $(VENV)/.installed
STAMP_MIN := $(VENV)/.generates
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# The full installation contains the minimal one, so do not install both.
STAMP_ANY := $(if $(wildcard $(STAMP_DEV)),$(STAMP_DEV),$(STAMP_MIN))
# Make the generated snapshot tests fail, not skip, if they cannot find the specs.
export TOOLCAST_REQUIRE_SPECS := 1
# Tests read no terminal input, so that they run the same in CI.
PYTEST := $(BIN)/python -m pytest -q </dev/null
CODE := generator/toolcast runtime/toolcast_runtime letta/toolcast_letta examples
# Without bytecode caches, each process that a test starts would compile every module.
unexport PYTHONDONTWRITEBYTECODE
# The tests of `make test-fast`: the core of the generator and of the runtime.
FAST := tests/rules tests/docs/test_docs_pages.py tests/encoders tests/parsing tests/rendering \
  tests/runtime tests/validation tests/values tests/access tests/router tests/test_structure.py

.DEFAULT_GOAL := help
.PHONY: generate check test test-fast lint format docs build test-slow test-pythons test-letta test-letta-real test-postgres test-node test-servers test-browser test-display test-crash help letta-server fuzz bench bench-load clean

##@ Develop

generate: $(STAMP_ANY) ## Generate generated/ from specs/
	@$(BIN)/python generator/spec_fields.py
	@$(BIN)/toolcast generate

check: $(STAMP_ANY) ## Check specs against the rules, and that generated/ is up to date
	@$(BIN)/python generator/spec_fields.py --check
	@$(BIN)/toolcast check

test: $(STAMP_DEV) ## Run the suite and the snapshot tests (up to 3 minutes on 2 cores); DIR=http runs only tests/http
	@$(PYTEST) -n auto --dist worksteal $(if $(DIR),tests/$(DIR))

test-fast: $(STAMP_DEV) ## Run the tests of FAST, in half a minute
	@$(PYTEST) -n auto --dist worksteal $(FAST)

lint: $(STAMP_DEV) ## Run ruff, black and mypy --strict on the packages, generated/ and examples/
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m black --check --quiet . || { echo "black would change files: make format"; exit 1; }
	@$(BIN)/python -m mypy $(CODE) generated

format: $(STAMP_DEV) ## Format the hand-written code
	@$(BIN)/python -m black --quiet $(CODE) tests letta/tests benchmarks docs
	@$(BIN)/python -m ruff check --fix --quiet $(CODE) tests letta/tests benchmarks docs

docs: $(STAMP_DEV) ## Build the documentation site into build/site/; fails on broken links
	@$(BIN)/python -m properdocs build -f docs/website/properdocs.yml

build: $(STAMP_DEV) ## Build wheels and source archives of the three distributions into dist/
	@for folder in . runtime letta; do (cd $$folder && $(CURDIR)/$(BIN)/python -m hatchling build -d $(CURDIR)/dist) || exit 1; done

##@ Test suites that need more time, other programs or a display

test-slow: $(STAMP_DEV) ## Run the slow tests: real installs, hanging servers, property tests with more examples
	@TOOLCAST_THOROUGH=1 $(PYTEST) -n auto --dist worksteal -m "slow or thorough" tests generated letta/tests

test-pythons: $(STAMP_DEV) ## Run the tests of test-fast and generated/ on each installed Python 3.11 to 3.14; ALL=1 runs all tests
	@$(BIN)/python tests/pythons.py $(if $(ALL),,$(FAST) generated)

test-letta: $(STAMP_DEV) ## Run the tests of the Letta extension against a fake Letta server
	@$(PYTEST) -n auto --dist worksteal letta/tests

test-letta-real: $(STAMP_DEV) ## Run the tests against a real Letta 0.16.6 (installs it once, 1.2 GB)
	@$(BIN)/python letta/tests/real/install.py && TOOLCAST_TEST_LETTA=1 $(PYTEST) -m letta letta/tests

test-postgres: $(STAMP_DEV) ## Run the tests against a real PostgreSQL and HAProxy (installs missing Debian packages)
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || apt-get install -y -q postgresql
	@command -v haproxy >/dev/null || apt-get install -y -q haproxy
	@TOOLCAST_TEST_POSTGRES=1 $(PYTEST) -m "not node" tests/deployment tests/ledger tests/lifespan tests/platform letta/tests/ren -k postgresql

test-node: $(STAMP_DEV) ## Run MCP's conformance suite and the MCP Inspector (installs Node.js packages once)
	@$(BIN)/python -m tests.mcp.node_setup && $(PYTEST) -m node tests/mcp tests/watching tests/spec_language tests/package

test-servers: $(STAMP_DEV) ## Run the tests with third-party MCP and ASGI servers (installs them once)
	@$(PIP) 'gunicorn>=23,<27' 'uvicorn-worker>=0.3,<1' 'hypercorn>=0.17,<1' 'granian>=2,<3'
	@$(BIN)/python -m tests.external.third_party_setup && $(BIN)/python -m tests.fastmcp.fastmcp_setup && $(BIN)/python -m tests.fastmcp.public_servers_setup
	@$(PYTEST) -m servers tests/external tests/oauth tests/ending tests/fastmcp

test-browser: $(STAMP_DEV) ## Test the catalog page and web clients in Chromium (needs chromium; installs Playwright)
	@$(PIP) 'playwright>=1.50,<2'
	@$(BIN)/python -m tests.catalog.browser_setup && $(PYTEST) -m browser tests/catalog tests/http

test-display: $(STAMP_DEV) ## Run the tests that control a real X display (needs xvfb xdotool scrot xterm)
	@$(PYTEST) -m display tests/display

test-crash: $(STAMP_DEV) ## Kill 200 `toolcast generate` runs at random moments; check that no file is damaged
	@TOOLCAST_KILLS=200 $(PYTEST) -m "" tests/output/test_killed_runs.py

##@ Other targets

help: ## List the targets and the state of the virtual environment
	@awk -F ':.*## ' '/^##@/ {print "\n" substr($$0, 5)} /^[a-z-]+:.*## / {printf "  %-16s%s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "$(VENV): $(if $(wildcard $(STAMP_DEV)),the packages for generating and testing are installed,$(if $(wildcard $(STAMP_MIN)),the packages for generating are installed; \`make test\` installs those for testing,not created yet; \`make generate\` creates it))"

letta-server: $(STAMP_DEV) ## Run a real Letta 0.16.6 on a free port until Ctrl-C
	@$(BIN)/python -m letta.tests.real

fuzz: $(STAMP_DEV) ## Fuzz the YAML loader and the pipeline with atheris for five minutes
	@mkdir -p .toolcast/fuzz
	@$(PIP) 'atheris>=2.3,<4'
	@$(BIN)/python tests/fuzz/fuzz_loader.py -max_total_time=300 -max_len=6000 -timeout=10 $(CURDIR)/.toolcast/fuzz $(CURDIR)/specs/molecule $(CURDIR)/specs/kirishima $(CURDIR)/specs/ren

bench: $(STAMP_DEV) ## Compare the speed with other tools; options: PEERS=1, ONLY=part, QUICK=1, PAGE=1
	@$(BIN)/python benchmarks/bench.py

bench-load: $(STAMP_DEV) ## Call tools in 200 HTTP sessions, compared with the MCP SDK and FastMCP; SECONDS=120
	@$(BIN)/python benchmarks/load/load.py

clean: ## Remove the virtual environments and caches
	rm -rf $(VENV) $(VENV)-3.* .toolcast .pytest_cache .mypy_cache .ruff_cache

define make_venv
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "Python 3.11 or newer is needed; set PYTHON=..."; exit 1; }
@echo "Setting up $(VENV) ($(1); once)"
@$(PYTHON) -m venv $(VENV)
endef

# Install the Letta extension without its dependencies: only its commands need the API client.
$(STAMP_MIN): pyproject.toml runtime/pyproject.toml letta/pyproject.toml
	$(call make_venv,the packages for generating)
	@$(PIP) -e ./runtime -e . && $(PIP) --no-deps -e ./letta
	@touch $@

$(STAMP_DEV): pyproject.toml runtime/pyproject.toml letta/pyproject.toml
	$(call make_venv,the packages for generating and testing)
	@$(PIP) -e './runtime[mcp,router,langchain,cli,testing]' -e '.[dev]' -e ./letta
	@touch $@
