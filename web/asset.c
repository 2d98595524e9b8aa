// SPDX-License-Identifier: GPL-2.0-or-later
#include "web/asset.h"

#include "lib/fs.h"

#define ASSET_MAX (1U << 20)

#define EMBED(symbol, file)                                                                        \
	__asm__(".pushsection .rodata\n"                                                           \
		"mmb_asset_" #symbol ":\n"                                                         \
		".incbin \"web/static/" file "\"\n"                                                \
		"mmb_asset_end_" #symbol ":\n"                                                     \
		".byte 0\n"                                                                        \
		".popsection\n");                                                                  \
	extern const char mmb_asset_##symbol[], mmb_asset_end_##symbol[]

#define HTML "text/html; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"

#define ASSETS(X)                                                                                  \
	X(index, "index.html", HTML)                                                               \
	X(style, "style.css", "text/css; charset=utf-8")                                           \
	X(icon, "icon.svg", "image/svg+xml")                                                       \
	X(app, "app.js", SCRIPT)                                                                   \
	X(dom, "dom.js", SCRIPT)                                                                   \
	X(format, "format.js", SCRIPT)                                                             \
	X(parts, "parts.js", SCRIPT)                                                               \
	X(page_findings, "page-findings.js", SCRIPT)                                               \
	X(page_finding, "page-finding.js", SCRIPT)                                                 \
	X(page_searches, "page-searches.js", SCRIPT)                                               \
	X(page_search, "page-search.js", SCRIPT)

#define EMBED_ONE(symbol, file, mime) EMBED(symbol, file);
ASSETS(EMBED_ONE)

struct asset {
	const char *name, *type, *start, *end;
};
#define TABLE_ROW(symbol, file, mime) {file, mime, mmb_asset_##symbol, mmb_asset_end_##symbol},
static const struct asset assets[] = {ASSETS(TABLE_ROW)};

static int from_folder(const char *dir, const struct asset *asset, struct reply *reply)
{
	_cleanup_free_ char *path = str_format("%s/%s", dir, asset->name);

	return path ? fs_read(path, ASSET_MAX, &reply->owned, &reply->len) : -ENOMEM;
}

int asset_get(const char *dir, const char *name, struct reply *reply)
{
	for (size_t i = 0; i < ARRAY_SIZE(assets); i++) {
		const struct asset *asset = &assets[i];

		if (!str_eq(asset->name, name))
			continue;
		reply_done(reply);
		reply->type = asset->type;
		if (dir)
			return from_folder(dir, asset, reply);
		reply->fixed = asset->start;
		reply->len = (size_t)(asset->end - asset->start);
		return 0;
	}
	return -ENOENT;
}
