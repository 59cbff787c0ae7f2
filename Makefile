# Everything a newcomer, a developer and CI types. `make help` lists it.
SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help setup programs lint test test-unit test-backends e2e demo bench coverage readme lock wheel clean

py := .venv/bin/python
lock := .venv/uv pip compile -q --generate-hashes --universal --python-version 3.11 --no-emit-index-url --custom-compile-command "make lock"

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

setup: ## .venv from the locks, with hashes
	@scripts/setup

programs: setup ## Prometheus, VictoriaMetrics, etcd, kube-apiserver, controller manager and kubectl, installed or built
	@$(py) -m tests.cluster.binaries

demo: setup ## the walk-through on real parts: a real HPA takes ray-worker 1 -> 4 -> 1 (CLUSTER=no, KEEP=1)
	@$(py) -m demo

# One order: series that ended while the outage's test had Prometheus dead stay visible for five
# minutes, and would count for the nodes of tests that share it.
test: programs ## every test, those on the real control plane included
	@$(py) -m pytest -p no:cacheprovider --randomly-seed=2317565993

test-unit: setup ## the tests that need no control plane: seconds
	@$(py) -m pytest -q -m "not cluster"

e2e: programs ## only the tests on the real control plane
	@$(py) -m pytest -m cluster

test-backends: programs ## the backends' tests on Prometheus 3 too, built the first time: a quarter of an hour
	@$(py) -m tests.cluster.binaries --only prometheus3
	@GMA_BACKENDS="prometheus victoriametrics prometheus3" $(py) -m pytest tests/backends

# A fresh clone, as CI's, finds what was checked before.
lint: export MYPY_CACHE_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gpu-metrics-adapter/mypy
lint: setup ## format, lint, types, imports, dependencies
	@.venv/bin/ruff format --check .
	@.venv/bin/ruff check .
	@.venv/bin/mypy
	@.venv/bin/lint-imports
	@.venv/bin/deptry .

bench: programs ## figures against their budgets, as a table
	@$(py) -m bench

coverage: programs ## which lines no test runs
	@.venv/bin/coverage run -m pytest -q
	@.venv/bin/coverage report

readme: setup ## the table of flags in README.md, from the parser
	@$(py) -m tests.flags_table

wheel: setup ## dist/*.whl
	@.venv/bin/hatchling build -t wheel

lock: setup ## resolve requirements/*.txt anew
	@echo uv | $(lock) --no-annotate - -o requirements/uv.txt
	@$(lock) pyproject.toml -o requirements/run.txt
	@$(lock) --group build -o requirements/build.txt
	@$(lock) pyproject.toml --group test --group lint --group build -c requirements/run.txt -o requirements/dev.txt
	@$(lock) --no-annotate tests/cluster/go-requirements.in -o tests/cluster/go-requirements.txt

clean: ## everything made here but the cache of built programs
	@rm -rf .venv dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
