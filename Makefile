# Two commands set everything up on a machine with Python 3.11 or newer, make and a C compiler:
#   make demo    the environment in .venv, then everything at scale demo
#   make test    everything that CI runs
# torch is the build for CPUs where there is no NVIDIA GPU; TORCH=lock takes the default index's,
# TORCH=keep the one that $(PYTHON) already has. The environment remembers which.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV ?= .venv
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null && echo $$p && break; \
	done)

LOCK := envs/lock.txt
INSTALL = "$(PYTHON)" envs/install.py --environment $(VENV) --torch $(TORCH)
ifeq ($(origin TORCH),undefined)
had := $(word 2,$(subst -, ,$(notdir $(firstword $(wildcard $(VENV)/.ready-*)))))
TORCH := $(if $(findstring cuda,$(LOCK)),$(filter-out cpu,$(had)),$(had))
ifeq ($(TORCH),)
TORCH := $(or $(shell "$(PYTHON)" envs/install.py --choose --lock $(LOCK) 2> /dev/null),lock)
endif
endif
TEST_LOCK := envs/lock-test.txt
READY := $(VENV)/.ready-$(TORCH)-$(shell cat $(sort envs/lock.txt $(LOCK)) | sha256sum | cut -c 1-16)
TEST_READY := $(VENV)/.test-ready-$(shell cat $(sort envs/lock.txt $(LOCK)) $(TEST_LOCK) | sha256sum | cut -c 1-16)
CRATES_LOCK := envs/lock-crates.txt
CRATES_READY := $(VENV)-crates/.ready-lock-$(shell sha256sum < $(CRATES_LOCK) | cut -c 1-16)
BENCH_LOCK := envs/lock-bench.txt
BENCH_READY := $(VENV)-bench/.ready-$(TORCH)-$(shell cat envs/lock.txt $(BENCH_LOCK) | sha256sum | cut -c 1-16)

# A variable of the command line that nothing here reads is a mistake, such as SCALES=lite.
KNOWN := SHELL PYTHON VENV RESULTS TORCH LOCK TEST_LOCK CRATES_LOCK BENCH_LOCK CI MAKEFLAGS \
	SCALE LIMIT ONLY OVERLAY PARALLEL DEVICE LIST PROFILE JOBS MIRROR TO RUNS MINUTES FROM PUBLISHED \
	SINCE ROW SEED RUN INPUT
odd := $(firstword $(filter-out $(KNOWN),$(foreach name,$(.VARIABLES),\
	$(if $(findstring command line,$(origin $(name))),$(name)))))
ifneq ($(odd),)
$(error error: $(odd)= is no variable of this Makefile$(shell "$(PYTHON)" -c \
	'import sys; from workflow.runtime.errors import nearest; print(nearest(sys.argv[1].upper(), sys.argv[2:]))' \
	"$(odd)" $(KNOWN)))
endif

# The shell reads these signs even between quotation marks, and the others where there are none.
READ := " \ ` $$
READ_UNQUOTED := $(READ) ; & | < > ( )
UNQUOTED := PYTHON VENV TORCH LOCK TEST_LOCK CRATES_LOCK BENCH_LOCK ONLY
define newline


endef
# $(2), or an error where it holds such a sign.
readable = $(if $(strip $(foreach sign,$(if $(filter $(1),$(UNQUOTED)),$(READ_UNQUOTED),$(READ)),$(if \
	$(findstring $(sign),$(2)),$(error error: $(1): the shell would read the $(sign) in it; give \
	a name without that)))$(if $(findstring $(newline),$(2)),$(error error: $(1): it has more than \
	one line; give one))),)$(2)
$(foreach name,$(filter-out SHELL MAKEFLAGS,$(KNOWN)),$(if \
	$(filter command environment,$(origin $(name))),$(eval seen := \
	$$(call readable,$(name),$$(value $(name))))))

# Options for the variables that were given; without them config.yaml counts.
given = $(if $(filter command environment,$(origin $(1))),$(if $($(1)),$(2) "$($(1))"))
scale = $(call given,SCALE,--scale)
limit = $(call given,LIMIT,--limit)
results = $(call given,RESULTS,--results)
device = $(call given,DEVICE,--device)
mirror = $(call given,MIRROR,--mirror)
overlay = $(call given,OVERLAY,--configfile)
SACCADE := $(VENV)/bin/python -m workflow

.PHONY: help demo plan run mirror bundle merge so-far explore site pictures use equivalent check reproduce test quick style lint unit planted dry-runs offline proofs crates slurm bench publish verify mend forget gc clean

##@ Start

help:  ## Show this list
	@sed -nE -e 's/^##@ /\n/p' -e 's/^([a-z-]+):.*## */  \1\t/p' $(MAKEFILE_LIST) | expand -t 14

demo: $(READY)  ## Run everything at scale demo (minutes), and say what to look at
	@$(SACCADE) run --scale demo $(results)

##@ Run

plan: $(READY)  ## Tell jobs and cost: make plan SCALE=lite [ONLY= ROW= LIMIT= OVERLAY= PARALLEL= LIST=1]
	@$(SACCADE) plan $(ONLY) $(scale) $(limit) $(results) $(device) $(mirror) $(overlay) \
		$(call given,PARALLEL,--parallel) $(if $(LIST),--jobs) $(call given,ROW,--row)

run: $(READY)  ## Run it: make run SCALE=lite ONLY="target ..." [LIMIT= OVERLAY= PROFILE= JOBS= DEVICE=]
	@$(SACCADE) run $(ONLY) $(scale) $(limit) $(results) $(device) $(mirror) $(overlay) \
		$(call given,JOBS,--jobs) $(call given,PROFILE,--profile)

mirror: $(READY)  ## Gather what a scale downloads: make mirror TO=DIR SCALE=lite [OVERLAY=file]
	@$(SACCADE) mirror --to "$(TO)" $(scale) $(results) $(mirror) $(overlay)

bundle: $(READY)  ## Pack runs for a lent GPU: make bundle RUNS="experiment/*" TO=FILE [SCALE= MINUTES=]
	@$(SACCADE) bundle --runs "$(RUNS)" --to "$(TO)" $(scale) $(results) $(mirror) $(overlay) \
		$(call given,MINUTES,--minutes)

merge: $(READY)  ## Take what a bundle trained into the store: make merge FROM=results.tar
	@$(SACCADE) merge --from "$(FROM)" $(results)

##@ Results

so-far: $(READY)  ## Report what is done, training nothing: make so-far SCALE=lite [OVERLAY= PUBLISHED=1]
	@$(SACCADE) so-far $(scale) $(limit) $(results) $(overlay) $(if $(PUBLISHED),--published)

explore: $(READY)  ## Make a page of models to try: make explore SCALE=lite [OVERLAY= PUBLISHED=1]
	@$(SACCADE) explore $(scale) $(results) $(mirror) $(overlay) $(if $(PUBLISHED),--published)

site: $(TEST_READY)  ## Make a static site of what is published: make site TO=FOLDER [SCALE= MIRROR=]
	@$(SACCADE) site --to "$(TO)" $(scale) $(results) $(mirror)

pictures: demo $(TEST_READY)  ## Make the pictures of the guides again (minutes): make pictures [MIRROR=]
	@$(SACCADE) explore --scale lite --published $(results) $(mirror)
	@$(VENV)/bin/python -m tests.laboratory.pictures "$(or $(RESULTS),results)"

use: $(READY)  ## Give lines to a trained model: make use RUN=experiment/variant/seed-0 [INPUT=]
	@$(SACCADE) use "$(RUN)" $(scale) $(results) $(mirror) $(overlay) $(call given,INPUT,--input)

equivalent: $(READY)  ## Prove that new code computes what old code did: make equivalent SINCE=COMMIT
	@$(SACCADE) equivalent --since "$(SINCE)" $(call given,ONLY,--only) $(device)

check: $(READY)  ## Compute a published row again from published weights: make check ROW=paper/table/row
	@$(SACCADE) check --row "$(ROW)" $(scale) $(results) $(mirror)

reproduce: $(READY)  ## Train a published row again, and log it: make reproduce ROW=paper/table/row [SEED=n]
	@$(SACCADE) reproduce --row "$(ROW)" $(scale) $(results) $(mirror) $(call given,SEED,--seed)

publish: $(READY)  ## Copy results into docs/reproduction: make publish SCALE=lite [OVERLAY=file]
	$(SACCADE) publish $(scale) $(limit) $(results) $(overlay)

##@ Checks

# Two parts at a time, beside the Slurm of the tests, which mostly waits; make ends it with them.
test: $(TEST_READY)  ## Run everything that CI runs, and say how long each part took
	@echo "Each part is shown when it ends; the longest takes half an hour."; \
	said=$$(mktemp); $(MAKE) --no-print-directory slurm > $$said 2>&1 & slurm=$$!; \
	trap 'kill $$slurm 2> /dev/null || true; rm -f $$said' EXIT; \
	$(MAKE) --no-print-directory --jobs 2 --output-sync=target \
		timed-unit timed-planted timed-offline timed-lint timed-dry-runs timed-crates timed-proofs; \
	wait $$slurm || { cat $$said; exit 1; }; cat $$said; echo "All checks passed."

timed-%:
	@SECONDS=0; $(MAKE) --no-print-directory $*; echo "$* took $$SECONDS s"

style: $(TEST_READY)  ## Check style, types and imports of Python
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports --no-cache --no-logo

lint: style  ## Check style, workflow, equations, what is published and every YAML file
	$(VENV)/bin/snakefmt --check Snakefile workflow
	$(SACCADE) schemas --check
	$(SACCADE) equations --check
	$(SACCADE) publish --check
	$(VENV)/bin/snakemake --lint

quick: style  ## Run before a commit (three minutes): style, types, and the quicker tests
	$(VENV)/bin/python -m pytest -q -n auto --dist worksteal --ignore tests/planning/test_shipped_experiments.py \
		--ignore tests/planning/test_code.py --ignore tests/model/architectures \
		tests/definitions tests/planning tests/model tests/runtime tests/terminal tests/reporting/claims tests/reporting/tables \
		tests/reporting/statistics

unit: $(TEST_READY)  ## Run the test suite, and tell the lines that it has not run
	$(VENV)/bin/python -m pytest tests -n auto --dist worksteal -p tests.lines --durations 15

planted: $(TEST_READY)  ## Plant faults, one at a time, and see that a test catches each
	$(VENV)/bin/python -m pytest tests/laboratory -q -n auto --dist worksteal

dry-runs: $(READY)  ## Plan every scale without running anything
	@for scale in demo lite paper; do for profile in profiles/default slurm; do \
		said=$$($(VENV)/bin/snakemake --dry-run --profile $$profile --config scale=$$scale 2>&1) \
			|| { echo "$$said" >&2; exit 1; }; \
		echo "scale $$scale can be planned with profile $$profile"; \
	done; done

offline: $(TEST_READY)  ## Run the demo without a network, check it in every way, disturb trainings
	@alone=; \
	if unshare -rn true 2> /dev/null; then alone="unshare -rn"; \
	elif [ -n "$${CI:-}" ]; then \
		echo "error: this machine does not allow unshare -rn, which CI needs" >&2; exit 1; \
	else echo "This machine does not allow unshare -rn: the demo runs with its network."; fi; \
	folder=$$(mktemp -d); \
	$$alone $(MAKE) --no-print-directory demo RESULTS="$$folder/fresh results"; \
	test -s "$$folder/fresh results/demo/report.html"; \
	$(VENV)/bin/python -m tests.laboratory.endurance --kills 100 > "$$folder/said.txt" 2>&1 & disturbed=$$!; \
	$(VENV)/bin/python -m tests.laboratory.flips "$$folder/fresh results" --flips 500; \
	wait $$disturbed || { cat "$$folder/said.txt"; exit 1; }; cat "$$folder/said.txt"; \
	$(VENV)/bin/python -m tests.laboratory.executed "$$folder/fresh results"; \
	$(VENV)/bin/python -m tests.laboratory.explored "$$folder/fresh results" --examples 50 --triples 1000; \
	rm -r "$$folder"

proofs: $(READY)  ## Make the newest proofs again (five minutes), and an older one
	@$(SACCADE) equivalent --check 5

crates: $(CRATES_READY)  ## Validate the RO-Crates of docs/reproduction, in an environment of its own
	$(VENV)-crates/bin/python -m tests.laboratory.validated

slurm: $(TEST_READY)  ## Run the faults of docs/reliability.md on a real Slurm (Debian, as root)
	$(VENV)/bin/python -m tests.laboratory.slurm

bench: $(BENCH_READY)  ## Measure speed beside other engines (one core, half an hour)
	@for shape in iwslt small; do \
		$(VENV)-bench/bin/python -m benchmarks.translation train --shape $$shape; \
	done
	@for beam in 1 5; do $(VENV)-bench/bin/python -m benchmarks.translation decode --shape iwslt --beam $$beam; done
	@for beam in 1 4; do $(VENV)-bench/bin/python -m benchmarks.translation decode --shape small --beam $$beam; done
	@for rows in short long; do $(VENV)-bench/bin/python -m benchmarks.mechanisms --rows $$rows; done
	@$(VENV)-bench/bin/python -m benchmarks.table

##@ Upkeep

verify: $(READY)  ## Compare data, store, outputs and what is published with their checksums
	@$(SACCADE) verify $(results)

mend: $(READY)  ## Set aside what is damaged, and make it again: make mend [OVERLAY=file]
	@$(SACCADE) mend $(results) $(overlay)

forget: $(READY)  ## Remove a run and its outputs, so that it trains again: make forget RUN=<identity>
	$(SACCADE) forget --run "$(RUN)" $(results)

gc: $(READY)  ## Remove runs from the store that no result names any more
	$(SACCADE) gc $(results)

clean:  ## Remove the environment and everything that tools cache; results stay
	rm -rf $(VENV) $(VENV)-crates $(VENV)-bench .mypy_cache .ruff_cache .pytest_cache .hypothesis .snakemake
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# An environment of another kind is made anew.
$(READY):
	@[ -n "$(PYTHON)" ] \
		|| { echo 'error: no Python 3.11 or newer found; set PYTHON=<path>' >&2; exit 1; }
	@$(INSTALL) --lock $(LOCK)
	@rm -f $(VENV)/.ready-*
	@touch $@

$(TEST_READY): $(READY)
	@$(INSTALL) --lock $(TEST_LOCK)
	@rm -f $(VENV)/.test-ready-*
	@touch $@

$(CRATES_READY): $(READY)
	@"$(PYTHON)" envs/install.py --environment $(VENV)-crates --torch lock --lock $(CRATES_LOCK)
	@rm -f $(VENV)-crates/.ready-*
	@touch $@

$(BENCH_READY): $(READY)
	@"$(PYTHON)" envs/install.py --environment $(VENV)-bench --torch $(TORCH) --lock $(BENCH_LOCK)
	@rm -f $(VENV)-bench/.ready-*
	@touch $@
