# SPDX-License-Identifier: GPL-2.0-or-later
# mmbisect. The two commands of the README are `make demo` and `make test`; `make help` lists the rest.
#
#   O=out       where everything is built        SAN=1   with AddressSanitizer and UBSan (then O=out/san)
#   V=1         show the commands                CC=…    compiler of the host programs

CC ?= clang
ifeq ($(origin CC),default)
CC := clang
endif
PREFIX ?= /usr/local
SHELL := /bin/bash
SAN ?=

ifeq ($(SAN),1)
O ?= out/san
OPT ?= -O1
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
else
O ?= out
OPT ?= -O2
SANFLAGS :=
endif

ifneq ($(V),1)
Q := @
say = @printf '  %-8s %s\n' '$(1)' '$(2)';
endif

LIBS := jansson sqlite3 libgit2 libcurl libsystemd libmicrohttpd inih libcrypto
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wundef \
	-Wwrite-strings -Wcast-qual -Wpointer-arith -Werror
CPPFLAGS += -I. -D_GNU_SOURCE -include lib/banned.h
CFLAGS += -std=gnu17 $(OPT) -g $(WARN) $(SANFLAGS) -fstack-protector-strong
LDFLAGS += $(SANFLAGS)
# asked late: `make deps` must work on a machine without pkg-config
LIB_CFLAGS = $(shell pkg-config --cflags $(LIBS))
LIB_LIBS = $(shell pkg-config --libs $(LIBS)) -lm

MAINS := daemon/mmbisectd.c daemon/mmbisect.c workers/mmbisect-build.c workers/mmbisect-run.c workers/mmbisect-mail.c web/mmbisect-web.c
sources = $(filter-out $(MAINS),$(wildcard $(addsuffix /*.c,$(1))))
objects = $(patsubst %.c,$(O)/%.o,$(1))

LIB_OBJ := $(call objects,$(call sources,lib))
DB_OBJ := $(call objects,$(call sources,db))
DAEMON_OBJ := $(call objects,$(call sources,daemon daemon/judge daemon/report daemon/simulate))
WORKER_OBJ := $(call objects,$(call sources,workers))
WEB_OBJ := $(call objects,$(call sources,web))
PROGRAMS := $(patsubst %.c,$(O)/bin/%,$(notdir $(wildcard $(MAINS))))
TEST_SRC := $(wildcard tests/lib/test-*.c tests/db/test-*.c tests/daemon/test-*.c tests/judge/test-*.c tests/workers/test-*.c tests/web/test-*.c)
TESTS := $(patsubst tests/%.c,$(O)/tests/%,$(TEST_SRC))

.PHONY: all programs guest demo test clean help install tests
all: programs guest

programs: $(PROGRAMS)

# The recipes call make again, so that what was just installed is seen.
demo: deps
	@$(MAKE) --no-print-directory -j2 all
	@O=$(O) bash tests/demo/demo.sh

test: test-deps
	@$(MAKE) --no-print-directory -j2 SAN=1 O=out/san all tests
	@bash tests/tools/run-tests.sh

-include workers/guest/guest.mk
-include web/web.mk
-include tests/tests.mk

$(O)/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(dir $@)
	$(Q)$(CC) $(CPPFLAGS) $(LIB_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# Schema files are part of db/: the object that embeds them must follow them.
$(O)/db/migrate.o: $(wildcard db/schema/*.sql)

$(O)/lib.a: $(LIB_OBJ)
$(O)/db.a: $(DB_OBJ)
$(O)/daemon.a: $(DAEMON_OBJ)
$(O)/workers.a: $(WORKER_OBJ)
$(O)/web.a: $(WEB_OBJ)
$(O)/%.a:
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

define link
	$(call say,LD,$@)
	@mkdir -p $(dir $@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)
endef
$(O)/bin/mmbisectd $(O)/bin/mmbisect: $(O)/bin/%: $(O)/daemon/%.o $(O)/daemon.a $(O)/db.a $(O)/lib.a
	$(link)
$(O)/bin/mmbisect-build $(O)/bin/mmbisect-run $(O)/bin/mmbisect-mail: $(O)/bin/%: $(O)/workers/%.o $(O)/workers.a $(O)/lib.a
	$(link)
$(O)/bin/mmbisect-web: $(O)/web/mmbisect-web.o $(O)/web.a $(O)/db.a $(O)/lib.a
	$(link)

tests: $(TESTS)
$(O)/tests/%: $(O)/tests/%.o $(O)/daemon.a $(O)/workers.a $(O)/web.a $(O)/db.a $(O)/lib.a
	$(link)
$(O)/tests/%.o: CPPFLAGS += -Itests

BIN := mmbisect mmbisectd mmbisect-build mmbisect-run mmbisect-mail mmbisect-web
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/mmbisect/configs $(DESTDIR)/etc/mmbisect \
		$(DESTDIR)/etc/systemd/system $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man8 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -m 755 $(addprefix $(O)/bin/,$(BIN)) $(DESTDIR)$(PREFIX)/bin/
	cp -r configs/kernel configs/machines configs/workloads $(DESTDIR)$(PREFIX)/share/mmbisect/configs/
	for a in $(GUEST_ARCHES); do install -D -m 644 $(O)/guest/$$a/initramfs.cpio \
		$(DESTDIR)$(PREFIX)/lib/mmbisect/guest/$$a/initramfs.cpio || exit 1; done
	[ -e $(DESTDIR)/etc/mmbisect/mmbisect.conf ] || install -m 640 configs/mmbisect.conf $(DESTDIR)/etc/mmbisect/
	install -m 644 configs/systemd/*.service $(DESTDIR)/etc/systemd/system/
	install -m 644 docs/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 docs/man/*.8 $(DESTDIR)$(PREFIX)/share/man/man8/
	install -m 644 configs/mmbisect.bash-completion $(DESTDIR)$(PREFIX)/share/bash-completion/completions/mmbisect

help:
	@echo 'make demo      the main job on real kernels, nothing prepared (SEED=n)'
	@echo 'make test      every test; check: the quick ones; lint: clang-tidy, cppcheck, shellcheck'
	@echo 'make bench     bench-judge (simulation against its bars), bench-time (real kernels beside git bisect run)'
	@echo 'make bench-judge  is the noisy search as good as it must be? 300 trials a bar (TRIALS=n SEED=n)'
	@echo 'make bench-aa  no-op kernels through the daemon, exact and in time: nothing may be found (TIPS=n PAIRS=n BOOTS=n)'
	@echo 'make           programs and guests in $(O)/; install (PREFIX, DESTDIR); clean; deps, test-deps'

clean:
	rm -rf out

-include $(shell find $(O) -name '*.d' 2>/dev/null)
