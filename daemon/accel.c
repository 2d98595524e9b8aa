// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/accel.h"

#include "db/build.h"
#include "db/run.h"
#include "lib/clock.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/spawn.h"
#include "lib/str.h"

#include <fcntl.h>
#include <sys/utsname.h>

#define PROBE_LIMIT "20"
#define PROBE_TIMEOUT_NS (40 * NSEC_PER_SEC)

static char *host_key(const char *qemu_version)
{
	struct utsname u;

	if (uname(&u) < 0)
		return NULL;
	return str_format("%s, Linux %s, QEMU %s", u.nodename, u.release, qemu_version);
}

/* What can be said without a boot: 1 decided (text in *ret_reason), 0 a probe is needed. */
static int decide_unprobed(const char *arch, const char **ret_reason)
{
	_cleanup_close_ int fd = -1;
	struct utsname u;
	bool native;

	if (uname(&u) < 0)
		return -errno;
	native = str_eq(arch, u.machine) || (str_eq(arch, "arm64") && str_eq(u.machine, "aarch64")) ||
		 (str_eq(arch, "i386") && str_eq(u.machine, "x86_64"));
	if (!native) {
		*ret_reason = "guest and host are of different architecture";
		return 1;
	}
	fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		*ret_reason = errno == ENOENT ? "no /dev/kvm" : "/dev/kvm cannot be opened by this user";
		return 1;
	}
	return 0;
}

static int run_probe(struct engine *e, const char *arch, const char *kernel, struct error *err, json_t **ret)
{
	_cleanup_free_ char *program = str_format("%s/mmbisect-run", e->paths.bin);
	_cleanup_free_ char *initramfs = str_format("%s/%s/initramfs.cpio", e->paths.guest, arch);
	const char *argv[] = { program, "--probe-accel", arch, kernel, initramfs, "--limit", PROBE_LIMIT, NULL };
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	_cleanup_free_ char *out = NULL;
	int status, r;

	if (!program || !initramfs)
		return error_errno(err, -ENOMEM, "probe");
	o.argv = argv;
	r = spawn_capture(&o, 1 << 16, PROBE_TIMEOUT_NS, err, &status, &out, NULL, NULL);
	if (r < 0)
		return r;
	*ret = json_loads(out, JSON_DISABLE_EOF_CHECK, NULL);
	if (status != 0 || !json_get_string(*ret, "accel"))
		return error_set(err, -EIO, "the accelerator probe ended with status %d and no answer", status);
	return 0;
}

static int remember(struct engine *e, const char *host, const char *arch, const char *accel, const char *reason,
		    struct error *err, char **ret)
{
	int r = db_probe_add(e->db, host, arch, accel, reason, now_wall_ns());

	if (r < 0)
		return error_errno(err, r, "database");
	log_info("accelerator for %s guests: %s (%s)", arch, accel, reason);
	*ret = strdup(accel);
	return *ret ? 0 : error_errno(err, -ENOMEM, "accelerator");
}

int accel_resolve(struct engine *e, const struct machine *m, const char *qemu_version, struct error *err, char **ret)
{
	_cleanup_free_ char *host = host_key(qemu_version);
	_cleanup_(db_build_done) struct build build = { 0 };
	_cleanup_json_ json_t *answer = NULL;
	const char *reason = NULL;
	int r;

	if (!str_eq(m->accel, "auto")) {
		*ret = strdup(m->accel ? m->accel : "tcg");
		return *ret ? 0 : error_errno(err, -ENOMEM, "accelerator");
	}
	if (!host)
		return error_errno(err, -ENOMEM, "accelerator");
	r = db_probe_find(e->db, host, m->arch, ret, NULL);
	if (r != 0)
		return r < 0 ? error_errno(err, r, "database") : 0;
	r = decide_unprobed(m->arch, &reason);
	if (r < 0)
		return error_errno(err, r, "accelerator");
	if (r > 0)
		return remember(e, host, m->arch, "tcg", reason, err, ret);
	r = db_build_any(e->db, m->arch, &build);
	if (r <= 0)
		return r < 0 ? error_errno(err, r, "database") :
			       error_set(err, -EAGAIN, "no image to probe the accelerator with yet");
	log_info("probing KVM with a timed boot (" PROBE_LIMIT " s at most)");
	r = run_probe(e, m->arch, build.kernel, err, &answer);
	if (r < 0)
		return r;
	reason = json_get_string(answer, "reason");
	return remember(e, host, m->arch, json_get_string(answer, "accel"), reason ? reason : "", err, ret);
}

int accel_reason(struct engine *e, const char *arch, const char *qemu_version, char **ret)
{
	_cleanup_free_ char *host = host_key(qemu_version), *accel = NULL, *reason = NULL;
	int r = host ? db_probe_find(e->db, host, arch, &accel, &reason) : -ENOMEM;

	if (r <= 0)
		return r;
	*ret = str_format("%s: %s", accel, reason);
	return *ret ? 0 : -ENOMEM;
}
