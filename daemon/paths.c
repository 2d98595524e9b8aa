// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/paths.h"

#include "lib/fs.h"
#include "lib/str.h"

void paths_done(struct paths *p)
{
	char *const fields[] = { p->state, p->db,     p->mirror, p->slots, p->images,
				 p->logs,  p->socket, p->bin,	 p->guest, p->configs };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		free(fields[i]);
	*p = PATHS_INIT;
}

static char *default_state(void)
{
	const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (xdg && *xdg == '/')
		return str_format("%s/mmbisect", xdg);
	if (home && *home == '/')
		return str_format("%s/.local/state/mmbisect", home);
	return strdup("/var/lib/mmbisect");
}

static char *absolute(const char *path)
{
	_cleanup_free_ char *cwd = NULL;

	if (*path == '/')
		return strdup(path);
	cwd = getcwd(NULL, 0);
	return cwd ? str_format("%s/%s", cwd, path) : NULL;
}

/* The folder `below` in one of our parents: works in the build tree and installed alike. */
static int find_upwards(const char *from, const char *const below[], const char *probe, char **ret)
{
	_cleanup_free_ char *at = strdup(from);

	for (int depth = 0; at && depth < 5; depth++) {
		char *slash;

		for (size_t i = 0; below[i]; i++) {
			_cleanup_free_ char *dir = str_format("%s/%s", at, below[i]);
			_cleanup_free_ char *full = dir ? str_format("%s/%s", dir, probe) : NULL;

			if (!full)
				return -ENOMEM;
			if (fs_exists(full)) {
				*ret = TAKE_PTR(dir);
				return 0;
			}
		}
		slash = strrchr(at, '/');
		if (!slash || slash == at)
			break;
		*slash = '\0';
	}
	return at ? -ENOENT : -ENOMEM;
}

static int find_programs(struct paths *p, const char *configs, struct error *err)
{
	static const char *const config_places[] = { "configs", "share/mmbisect/configs", NULL };
	static const char *const guest_places[] = { "guest", "lib/mmbisect/guest", NULL };
	char *slash;
	int r = fs_realpath("/proc/self/exe", &p->bin);

	if (r < 0)
		return error_errno(err, r, "own program");
	slash = strrchr(p->bin, '/');
	if (slash)
		*slash = '\0';
	if (!configs)
		configs = getenv("MMBISECT_CONFIGS");
	if (configs)
		r = fs_realpath(configs, &p->configs);
	else
		r = find_upwards(p->bin, config_places, "workloads", &p->configs);
	if (r < 0)
		return error_errno(err, r, "folder of configs%s%s", configs ? " " : "", configs ? configs : "");
	r = find_upwards(p->bin, guest_places, ".", &p->guest);
	if (r < 0)
		return error_errno(err, r, "folder of guests (make guest)");
	return 0;
}

int paths_init(const char *state, const char *configs, struct error *err, struct paths *ret)
{
	_cleanup_(paths_done) struct paths p = PATHS_INIT;
	const struct {
		char **field;
		const char *name;
	} below[] = { { &p.db, "mmbisect.db" }, { &p.mirror, "mirror.git" }, { &p.slots, "slots" },
		      { &p.images, "images" },	{ &p.logs, "logs" },	     { &p.socket, "control.sock" } };
	int r;

	p.state = state ? absolute(state) : default_state();
	if (!p.state)
		return error_errno(err, -ENOMEM, "state folder");
	for (size_t i = 0; i < ARRAY_SIZE(below); i++) {
		*below[i].field = str_format("%s/%s", p.state, below[i].name);
		if (!*below[i].field)
			return error_errno(err, -ENOMEM, "state folder");
	}
	r = find_programs(&p, configs, err);
	if (r < 0)
		return r;
	*ret = p;
	p = PATHS_INIT;
	return 0;
}

int paths_create(const struct paths *p, struct error *err)
{
	const char *const dirs[] = { p->state, p->slots, p->images, p->logs };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		int r = fs_mkdir_p(dirs[i], 0755);

		if (r < 0)
			return error_errno(err, r, "cannot make the state folder %s", dirs[i]);
	}
	return 0;
}
