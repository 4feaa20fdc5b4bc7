# Two commands set everything up on a machine with Python 3.11 or newer, make and a C compiler:
#   make demo    the environment in .venv, then everything at scale demo
#   make test    everything that CI runs
# TORCH=keep uses the torch that $(PYTHON) already has (a CUDA build, say) instead of the locked one.
# The environment remembers which; TORCH=lock goes back.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV ?= .venv
TORCH ?= $(if $(wildcard $(VENV)/.ready-keep-*),keep,lock)
# As config.yaml has it; read where a recipe uses it, when there is a Python that can. What is wrong
# with that file, the programs say.
RESULTS ?= $(shell $(VENV)/bin/python -c \
	'import yaml; print(yaml.safe_load(open("config.yaml"))["results"])' 2> /dev/null)
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null && echo $$p && break; \
	done)

LOCK := envs/lock.txt
TEST_LOCK := envs/lock-test.txt
READY := $(VENV)/.ready-$(TORCH)-$(shell cat $(sort envs/lock.txt $(LOCK)) | sha256sum | cut -c 1-16)
TEST_READY := $(VENV)/.test-ready-$(shell cat $(sort envs/lock.txt $(LOCK)) $(TEST_LOCK) | sha256sum | cut -c 1-16)

PIP = $(VENV)/bin/python -m pip --disable-pip-version-check install --quiet
VENV_OPTION = $(if $(filter keep,$(TORCH)),--system-site-packages)
SYSTEM_SITE = include-system-site-packages = $(if $(VENV_OPTION),true,false)
# An option for a variable that was given; without it config.yaml counts.
given = $(if $(filter command environment,$(origin $(1))),$(2) "$($(1))")

.PHONY: help demo plan run mirror so-far test lint unit dry-runs offline slurm bench publish verify mend forget gc clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */\1\t/' | expand -t 12

demo: $(READY)  ## Run everything at scale demo and say where tables and report are
	@$(VENV)/bin/snakemake --cores all --quiet rules --config scale=demo results="$(RESULTS)"
	@echo "Tables:  $(RESULTS)/demo/tables/<paper>/*.md"
	@ls "$(RESULTS)"/demo/tables/*/*.md | sed 's/^/         /'
	@echo "Report:  $(RESULTS)/demo/report.html"

plan: $(READY)  ## Say what would run and what it takes: make plan SCALE=lite [ONLY=target LIST=1 PARALLEL=n DEVICE=cuda MIRROR=dir OVERLAY=file]
	@$(VENV)/bin/python -m workflow.scripts.plan $(ONLY) \
		$(call given,SCALE,--scale) --results "$(RESULTS)" \
		$(if $(DEVICE),--device $(DEVICE)) $(if $(PARALLEL),--parallel $(PARALLEL)) \
		$(if $(MIRROR),--mirror "$(MIRROR)") $(if $(OVERLAY),--configfile "$(OVERLAY)") \
		$(if $(LIST),--jobs)

run: $(READY)  ## Run what is asked for: make run SCALE=lite [ONLY=target OVERLAY=file PROFILE=slurm]
	@$(VENV)/bin/python -m workflow.scripts.run $(ONLY) \
		$(call given,SCALE,--scale) --results "$(RESULTS)" \
		$(if $(PROFILE),--profile "$(PROFILE)") $(if $(OVERLAY),--configfile "$(OVERLAY)")

mirror: $(READY)  ## Gather what a scale downloads in a folder: make mirror TO=DIR SCALE=lite [OVERLAY=file]
	@$(VENV)/bin/python -m workflow.scripts.mirror --to "$(TO)" \
		$(call given,SCALE,--scale) --results "$(RESULTS)" $(if $(MIRROR),--mirror "$(MIRROR)") \
		$(if $(OVERLAY),--configfile "$(OVERLAY)")

so-far: $(READY)  ## Report what is done so far, training nothing: make so-far SCALE=lite [OVERLAY=file PUBLISHED=1]
	@$(VENV)/bin/python -m workflow.scripts.so_far \
		$(call given,SCALE,--scale) --results "$(RESULTS)" $(if $(PUBLISHED),--published) \
		$(if $(OVERLAY),--configfile "$(OVERLAY)")

test:  ## Run everything that CI runs, and say how long each part took
	@for part in lint unit dry-runs offline slurm; do \
		SECONDS=0; $(MAKE) --no-print-directory $$part; took+="$$part $$SECONDS s, "; \
	done; echo "All checks passed: $${took%, }."

lint: $(TEST_READY)  ## Check style, types, workflow, equations and every YAML file
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/snakefmt --check Snakefile workflow
	$(VENV)/bin/python -m workflow.scripts.schemas --check
	$(VENV)/bin/python -m workflow.scripts.equations --check
	$(VENV)/bin/python -m workflow.scripts.publish --check
	$(VENV)/bin/snakemake --lint
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports --no-cache --no-logo

unit: $(TEST_READY)  ## Run the test suite with line coverage
	$(VENV)/bin/python -m pytest -n auto --dist worksteal --cov --cov-fail-under=90

dry-runs: $(READY)  ## Plan every scale without running anything
	@for scale in demo lite paper; do for profile in profiles/default slurm; do \
		said=$$($(VENV)/bin/snakemake --dry-run --profile $$profile --config scale=$$scale 2>&1) \
			|| { echo "$$said" >&2; exit 1; }; \
		echo "scale $$scale can be planned with profile $$profile"; \
	done; done

offline: $(TEST_READY)  ## Run the demo without a network, flip bits of it, and see which code it calls
	@alone=; \
	if unshare -rn true 2> /dev/null; then alone="unshare -rn"; \
	elif [ -n "$${CI:-}" ]; then \
		echo "error: this machine does not allow unshare -rn, which CI needs" >&2; exit 1; \
	else echo "This machine does not allow unshare -rn: the demo runs with its network."; fi; \
	folder=$$(mktemp -d); \
	$$alone $(MAKE) --no-print-directory demo RESULTS="$$folder/fresh results"; \
	test -s "$$folder/fresh results/demo/report.html"; \
	$(VENV)/bin/python -m tests.flips "$$folder/fresh results" --flips 500; \
	$(VENV)/bin/python -m tests.executed "$$folder/fresh results"; \
	rm -r "$$folder"

slurm: $(TEST_READY)  ## Run the faults of docs/reliability.md on a real Slurm (Debian, as root)
	$(VENV)/bin/python -m tests.slurm

bench: $(TEST_READY)  ## Measure translation beside torch.nn.Transformer (one core, half an hour)
	@for shape in iwslt small; do \
		$(VENV)/bin/python -m benchmarks.translation train --shape $$shape; \
		$(VENV)/bin/python -m benchmarks.translation mechanisms --shape $$shape; \
	done
	@for beam in 1 5; do $(VENV)/bin/python -m benchmarks.translation decode --shape iwslt --beam $$beam; done
	@for beam in 1 4; do $(VENV)/bin/python -m benchmarks.translation decode --shape small --beam $$beam; done
	@$(VENV)/bin/python -m benchmarks.table

publish: $(READY)  ## Copy a scale's results into docs/reproduction: make publish SCALE=lite [OVERLAY=file]
	$(VENV)/bin/python -m workflow.scripts.publish \
		$(call given,SCALE,--scale) --results "$(RESULTS)" \
		$(if $(OVERLAY),--configfile "$(OVERLAY)") --to docs/reproduction

verify: $(READY)  ## Compare data, store, outputs and what is published with their checksums
	@$(VENV)/bin/python -m workflow.scripts.verify --results "$(RESULTS)"

mend: $(READY)  ## Set aside what is damaged, and make it anew: make mend [OVERLAY=file]
	@$(VENV)/bin/python -m workflow.scripts.verify --results "$(RESULTS)" --mend \
		$(if $(OVERLAY),--configfile "$(OVERLAY)")

forget: $(READY)  ## Remove a run and its outputs, so that it trains again: make forget RUN=<identity>
	$(VENV)/bin/python -m workflow.scripts.forget --results "$(RESULTS)" --run "$(RUN)"

gc: $(READY)  ## Remove runs from the store that no result names any more
	$(VENV)/bin/python -m workflow.scripts.forget --results "$(RESULTS)" --unused

clean:  ## Remove the environment and everything that tools cache; results stay
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .snakemake
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# An environment of the other kind is made anew.
$(READY):
	@[ -x $(VENV)/bin/python ] && grep -qsx '$(SYSTEM_SITE)' $(VENV)/pyvenv.cfg || { \
		[ -n "$(PYTHON)" ] \
			|| { echo 'error: no Python 3.11 or newer found; set PYTHON=<path>' >&2; exit 1; }; \
		"$(PYTHON)" -m venv --clear $(VENV_OPTION) $(VENV); }
ifeq ($(TORCH),keep)
	@$(VENV)/bin/python -c 'import torch; print("keeping torch", torch.__version__)' \
		|| { echo 'error: TORCH=keep, but $(PYTHON) has no torch; install it, or set TORCH=lock' >&2; \
			rm -rf $(VENV); exit 1; }
	$(PIP) -r <(grep -hv -e '^torch==' -e '^-r ' envs/lock.txt $(LOCK) | sort -u)
else
	$(PIP) -r $(LOCK)
endif
	@rm -f $(VENV)/.ready-*
	@touch $@

$(TEST_READY): $(READY)
	$(PIP) -r $(TEST_LOCK)
	@rm -f $(VENV)/.test-ready-*
	@touch $@
