// SPDX-License-Identifier: GPL-2.0-or-later
#include "web/api.h"

#include "web/asset.h"

/* Every page is the same document; web/static/app.js reads the path and asks the API. */
int page_app(const struct request *request, struct reply *reply)
{
	return asset_get(request->static_dir, "index.html", reply);
}
