# SPDX-License-Identifier: GPL-2.0-or-later
# How everything is tested. `make test` is what CI runs: it installs what it needs, builds with ASan+UBSan, checks the sources, runs
# every test under prove, and ends with one whole run on real kernels, by the same programs.

DEPS := build-essential sqlite3 clang lld llvm make pkg-config git ca-certificates bc flex bison cpio xz-utils curl ccache bubblewrap \
	qemu-system-x86 qemu-system-arm linux-source-6.1 libelf-dev libjansson-dev libsqlite3-dev libgit2-dev \
	libcurl4-openssl-dev libsystemd-dev libmicrohttpd-dev libinih-dev libssl-dev \
	libc6-dev-arm64-cross libgcc-12-dev-arm64-cross nodejs npm
TEST_DEPS := perl shellcheck cppcheck clang-tidy libclang-rt-14-dev chromium systemd procps util-linux

.PHONY: deps test-deps check lint bench bench-judge bench-decision bench-time bench-aa
deps:
	@tests/tools/deps.sh $(DEPS)
test-deps: deps
	@tests/tools/deps.sh $(TEST_DEPS)

# Everything but real kernels, quick; with sanitizers.
check: test-deps
	@$(MAKE) --no-print-directory -j2 SAN=1 O=out/san all tests
	@QUICK=1 bash tests/tools/run-tests.sh

# How good the noisy search is: every bar of docs/architecture.md, "The simulation", on all cores.
bench-judge: deps
	@$(MAKE) --no-print-directory -j2 $(O)/bin/mmbisect
	@nice $(O)/bin/mmbisect simulate $(if $(TRIALS),--trials $(TRIALS)) $(if $(SEED),--seed $(SEED))

# Noisy searches on real kernels beside git bisect run. SEEDS="1 2 3"; ten minutes a seed and more.
bench-time: deps
	@$(MAKE) --no-print-directory -j2 all
	@bash tests/bench/bisect-time.sh

# CPU time of a decision on a repository of mainline's size, beside git's; the repository is made once, in two minutes.
bench-decision: deps
	@$(MAKE) --no-print-directory -j2 $(O)/tests/bench/decision
	@O=$(O) bash tests/bench/decision.sh

# Equal and no-op kernels through the daemon: nothing may be found. TIPS, PAIRS, BOOTS as in the script; PARTS="exact time pool".
bench-aa: deps
	@$(MAKE) --no-print-directory -j2 all $(O)/tests/bench/aa-pool
	@O=$(O) bash tests/bench/aa.sh

bench: bench-judge bench-decision bench-time

LINT_C := $(wildcard lib/*.c db/*.c daemon/*.c daemon/judge/*.c daemon/report/*.c daemon/simulate/*.c workers/*.c web/*.c)
LINT_SH = $(shell git ls-files '*.sh' .ci/run)
TIDY := $(patsubst %.c,$(O)/lint/%.tidy,$(LINT_C))
# Leaks are for the sanitizers: cppcheck does not know cleanup attributes.
lint: $(TIDY)
	$(call say,CPPCHECK,all)
	$(Q)cppcheck --quiet --std=c11 --language=c --inline-suppr --error-exitcode=1 --enable=warning,portability,performance \
		--suppress=missingIncludeSystem --suppress=nullPointerRedundantCheck --suppress=unknownMacro --suppress=memleak --suppress=resourceLeak -D_GNU_SOURCE \
		-D_cleanup_\(f\)= -D_printf_\(a,b\)= -I. $(LINT_C)
	$(call say,SHELL,scripts)
	$(Q)shellcheck $(LINT_SH)

# One stamp a file: only what changed is looked at again.
$(O)/lint/%.tidy: %.c .clang-tidy
	$(call say,TIDY,$<)
	@mkdir -p $(dir $@)
	$(Q)clang-tidy --quiet $< -- $(CPPFLAGS) $(LIB_CFLAGS) $(CFLAGS) 2>$@.log || { cat $@.log; rm -f $@; false; }
	$(Q)touch $@
