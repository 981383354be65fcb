# The two commands: make demo, make test. Everything else is CMake (see CMakePresets.json) behind short names.

SHELL := bash
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
export CTEST_PARALLEL_LEVEL := $(JOBS)

PROGRAM := build/release/bin/bregmax
PRESETS := release dev asan-ubsan tsan coverage
FUZZ_RUNS ?= 20000
SEEDS ?= 1000
BENCH_OPTIONS ?=

.DEFAULT_GOAL := help
.PHONY: help demo build wheel test test-python test-sanitizers coverage bench reproduction paper-agreement clean format \
        bootstrap-build bootstrap-python bootstrap-test bootstrap-bench \
        check-format tidy fuzz micro-benchmarks highs-comparison baselines-comparison \
        neighbours-comparison gradient-comparison default-time label-scores new-item-scores wu-oscillation \
        python-benchmark tuning-benchmark many-rows rows-scaling exact-cost admm-agreement hard-problems solver-settings \
        $(PRESETS:%=build-%) $(PRESETS:%=test-%)

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | \
	  awk -F '\t' '{printf "  make %-22s %s\n", $$1, $$2}'
	@echo "  make test-PRESET        build and test one preset: $(PRESETS)"
	@echo "  variables: JOBS=$(JOBS) FUZZ_RUNS=$(FUZZ_RUNS) BENCH_OPTIONS='--help'"

demo: build  ## learn a divergence on a built-in dataset, print its scores, write a picture
	@$(PROGRAM) demo

build: bootstrap-build  ## the program, at build/release/bin/bregmax
	@if [[ ! -e build/release/build.ninja ]]; then cmake --preset program >/dev/null; fi
	@cmake --build build/release --target bin/bregmax

wheel: bootstrap-python  ## the Python package, as build/wheel/bregmax-*.whl
	@tools/python-package wheel

test: bootstrap-test  ## everything that must hold: format, static analysis, tests, the Python package, fuzzing
	+@tools/stages "$(MAKE)" check-format tidy test-release test-python fuzz

test-python: bootstrap-python build  ## the Python package, as a wheel in a fresh virtual environment
	@tools/python-package test

test-sanitizers: bootstrap-test  ## the tests again under the thread, address and undefined behaviour sanitizers
	+@tools/stages "$(MAKE)" test-tsan test-asan-ubsan

coverage: test-coverage  ## the lines that the tests run, room by room
	@tools/coverage build/coverage

BENCHMARKS := micro-benchmarks gradient-comparison default-time highs-comparison many-rows rows-scaling exact-cost \
              admm-agreement tuning-benchmark baselines-comparison neighbours-comparison python-benchmark

# An hour and a half, most of it against HiGHS; with BENCH_OPTIONS='--datasets iris wine' half an hour. A missed
# limit, perhaps because the machine is busy, does not keep the others from being measured.
bench: bootstrap-bench  ## measure speed, also against HiGHS, metric-learn and scikit-learn
	+@tools/stages --keep-going "$(MAKE)" $(BENCHMARKS)

reproduction: build  ## docs/reproduction.md from the results in docs/reproduction
	@tools/reproduction-page $(PROGRAM)

paper-agreement: build  ## which scores of classical methods in docs/reproduction differ from the paper's
	@python3 benchmarks/paper_agreement.py $(PROGRAM)

clean:  ## remove everything that was built
	rm -rf build

format: bootstrap-test  ## format the C++ files
	@tools/cpp-files | xargs -0 clang-format -i

check-format: bootstrap-test  ## are the C++ files formatted?
	@tools/cpp-files | xargs -0 clang-format --dry-run -Werror

# Without a package index it is skipped, as the tests of the Python package are; with CI set, that is a failure.
tidy: bootstrap-test  ## static analysis by clang-tidy; TIDY_ONLY=src/data: a part
	+@if $(MAKE) --silent --no-print-directory build/tidy-venv/ready; then \
	  cmake --preset tidy >/dev/null && tools/tidy build/tidy $(JOBS) $(TIDY_ONLY); \
	else \
	  echo "tidy: SKIPPED, no package index with what tools/requirements-tidy.txt names"; [[ -z $$CI ]]; \
	fi

fuzz: bootstrap-test  ## feed each reader FUZZ_RUNS inputs, from its seed corpus on
	@cmake --preset fuzz -D BREGMAX_FUZZ_RUNS=$(FUZZ_RUNS) >/dev/null
	@cmake --build --preset fuzz --target fuzz/all
	@ctest --test-dir build/fuzz/fuzz --output-on-failure --no-tests=error

micro-benchmarks: bootstrap-bench build/bench/build.ninja  ## the kernels and readers against their lower bounds
	@cmake --build build/bench
	@missed=(); for benchmark in build/bench/bin/*_benchmark; do \
	  echo "==> $${benchmark##*/}"; $$benchmark || missed+=("$${benchmark##*/}"); \
	done; \
	if (($${#missed[@]} > 0)); then echo "limits missed by: $${missed[*]}"; exit 1; fi

highs-comparison: build bootstrap-bench build/venv/ready  ## the exact solver against HiGHS
	@build/venv/bin/python benchmarks/highs_comparison.py $(BENCH_OPTIONS)

hard-problems: bootstrap-test  ## what the exact solver does not prove optimal among random hard problems; SEEDS=1000 of each family and kind
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target count_unsolved
	@build/release/bin/count_unsolved $(SEEDS)

solver-settings: bootstrap-test  ## how much each constant of the exact solver matters, on random hard problems and built-in data
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target vary_settings
	@build/release/bin/vary_settings

tuning-benchmark: build  ## choosing lambda against one fit
	@python3 benchmarks/tuning_benchmark.py

many-rows: build bootstrap-bench build/venv/ready  ## a million rows, 100 pieces: time, memory and scores
	@build/venv/bin/python benchmarks/many_rows.py

rows-scaling: build bootstrap-bench build/venv/ready  ## time per iteration against rows and pieces
	@build/venv/bin/python benchmarks/rows_scaling.py

admm-agreement: build bootstrap-bench build/venv/ready  ## admm against the exact optimum on the paper's datasets; see BENCH_OPTIONS
	@build/venv/bin/python benchmarks/admm_agreement.py $(BENCH_OPTIONS)

exact-cost: build bootstrap-bench build/venv/ready  ## the exact solver's time against what is predicted of it
	@build/venv/bin/python benchmarks/exact_cost.py

baselines-comparison: bootstrap-bench build/bench/build.ninja build/venv/ready  ## ITML against metric-learn
	@cmake --build build/bench --target trace_method
	@build/venv/bin/python benchmarks/baselines_comparison.py

neighbours-comparison: bootstrap-bench build/bench/build.ninja build/venv/ready  ## NCA and LMNN against scikit-learn and metric-learn
	@cmake --build build/bench --target trace_method
	@build/venv/bin/python benchmarks/neighbours_comparison.py

gradient-comparison: bootstrap-bench build/bench/build.ninja  ## a training step of smooth and deep against PyTorch
	@cmake --build build/bench --target gradient_benchmark
	@python3 benchmarks/gradient_comparison.py

default-time: build bootstrap-bench build/venv/ready  ## fit without options on five tables: time and memory
	@build/venv/bin/python benchmarks/default_time.py

wu-oscillation: bootstrap-bench build/bench/build.ninja  ## what the subgradient method of Wu et al. does
	@cmake --build build/bench --target wu2009_oscillation
	@build/bench/bin/wu2009_oscillation

python-benchmark: bootstrap-bench bootstrap-python build build/bench/build.ninja  ## what Python adds; neighbours against scikit-learn
	@cmake --build build/bench --target python_reference
	@tools/python-package bench benchmarks/python_benchmark.py

label-scores: bootstrap-bench bootstrap-python build  ## auto, smooth, deep and a Euclidean head on eight tables, 20 splits; an hour or two
	@tools/python-package bench benchmarks/labels.py $(BENCH_OPTIONS)

new-item-scores: build bootstrap-bench build/venv/ready  ## comparisons among new items, four settings
	@build/venv/bin/python benchmarks/new_items.py $(BENCH_OPTIONS)

bootstrap-build bootstrap-python bootstrap-test bootstrap-bench: bootstrap-%:
	@tools/bootstrap $*

# `make build` may have left a folder without tests, so the preset is applied anew each time.
$(PRESETS:%=build-%): build-%: bootstrap-test
	@cmake --preset $* >/dev/null
	@cmake --build --preset $*

$(PRESETS:%=test-%): test-%: build-%
	@ctest --preset $*

build/%/build.ninja: CMakePresets.json
	@cmake --preset $* >/dev/null

build/venv/ready: benchmarks/requirements.txt
build/tidy-venv/ready: tools/requirements-tidy.txt
build/venv/ready build/tidy-venv/ready:
	@echo "venv: installing $$(grep -v '^#' $< | tr '\n' ' ')"
	@python3 -m venv $(@D)
	@$(@D)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@
