# SPDX-License-Identifier: GPL-2.0-or-later
# The web room's own rules: the pages are inside the program, and its tests need a seeded database and a browser driver.

# The object that embeds web/static/ must follow it.
$(O)/web/asset.o: $(wildcard web/static/*)

$(O)/tests/web/seed: $(O)/tests/web/seed.o $(O)/db.a $(O)/lib.a
	$(link)

# Browser tests: playwright-core, exactly as the lock file says. The browser itself is Debian's chromium.
WEB_NODE := tests/web/node_modules/.package-lock.json
$(WEB_NODE): tests/web/package-lock.json
	$(call say,NPM,tests/web)
	$(Q)cd tests/web && npm ci --silent
	$(Q)touch $@

.PHONY: web-tests
web-tests: $(O)/bin/mmbisect-web $(O)/tests/web/seed $(WEB_NODE)
tests: web-tests
