// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/run-probe.h"

#include "lib/clock.h"
#include "lib/spawn.h"
#include "workers/run-vm.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/utsname.h>

#define KVM_DEVICE "/dev/kvm"
#define VERSION_TIMEOUT_NS (10 * NSEC_PER_SEC)

/* The processor of the runs that follow (configs/machines/time-*.conf): the proof is for that one only. KVM on arm64 has
 * none but the host's. */
static const struct probe_machine {
	const char *arch, *host, *qemu, *type, *cpu, *cmdline;
} machines[] = {
	{ "x86_64", "x86_64", "qemu-system-x86_64", "pc,usb=off,hpet=off,vmport=off,graphics=off", "qemu64",
	  "nokaslr norandmaps reboot=t no_timer_check" },
	{ "arm64", "aarch64", "qemu-system-aarch64", "virt,gic-version=host", "host", "nokaslr norandmaps" },
};

/* Small enough to be quick, big enough to go through threads, faults and the timer. */
static const char *const params[][2] = { { "workers", "1" }, { "threads", "2" } };

static const struct probe_machine *find_machine(const char *arch)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (str_eq(machines[i].arch, arch))
			return &machines[i];
	return NULL;
}

/* "QEMU emulator version 7.2.22 (Debian …)" -> "7.2.22"; NULL when there is no such program. */
static char *qemu_version(const char *qemu)
{
	const char *const argv[] = { qemu, "--version", NULL };
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	_cleanup_free_ char *text = NULL;
	const char *v;
	int status;

	o.argv = argv;
	if (spawn_capture(&o, 65536, VERSION_TIMEOUT_NS, NULL, &status, &text, NULL, NULL) < 0)
		return NULL;
	v = strstr(text, "version ");
	if (status || !v)
		return NULL;
	v += strlen("version ");
	return str_format("%.*s", (int)strspn(v, "0123456789."), v);
}

static int random_nonce(char nonce[17])
{
	unsigned char bytes[8];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(nonce + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static json_t *probe_params(void)
{
	json_t *object = json_object();

	for (size_t i = 0; object && i < ARRAY_SIZE(params); i++)
		(void)json_object_set_new(object, params[i][0], json_string(params[i][1]));
	return object;
}

static int probe_job(const struct run_probe *probe, const struct probe_machine *m, struct error *err,
		     struct run_job *ret)
{
	char nonce[17];
	json_t *job;

	if (random_nonce(nonce) < 0)
		return error_set(err, -EIO, "no random bytes");
	job = json_pack("{ss ss ss ss ss si s{ss ss ss ss ss si si ss} s{ss so}}", "nonce", nonce, "arch", probe->arch,
			"kernel", probe->kernel, "initramfs", probe->initramfs, "console", "/dev/null",
			"limit_seconds", (int)probe->limit_seconds, "machine", "class", "time", "accel", "kvm",
			"qemu", m->qemu, "type", m->type, "cpu", m->cpu, "vcpus", 1, "memory_mib", 256, "cmdline",
			m->cmdline, "workload", "name", "thread-stack", "params", probe_params());
	if (!job)
		return error_errno(err, -ENOMEM, "probe");
	return run_job_parse(job, err, ret);
}

/* Why KVM cannot even be tried; NULL: it can. */
static char *obstacle(const struct probe_machine *m)
{
	_cleanup_close_ int fd = -1;
	struct utsname host;

	if (uname(&host) < 0 || !str_eq(host.machine, m->host))
		return str_format("the host is %s, the guest %s", host.machine, m->arch);
	fd = open(KVM_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return str_format("%s: %s", KVM_DEVICE, strerrordesc_np(errno));
	return NULL;
}

static int answer(const char *accel, const char *reason, double seconds, const char *qemu, json_t **ret)
{
	*ret = json_pack("{ss ss sf ss?}", "accel", accel, "reason", reason, "seconds", seconds, "qemu", qemu);
	return *ret ? 0 : -ENOMEM;
}

static int answer_result(const json_t *result, const char *qemu, json_t **ret)
{
	double seconds = json_get_number(result, "seconds", 0);
	const char *error = json_get_string(result, "error"), *title = json_get_string(result, "title");
	_cleanup_free_ char *reason = NULL;

	if (str_eq(json_get_string(result, "status"), "ok")) {
		reason = str_format("the probe guest ran to its end under KVM in %.1f s", seconds);
		return reason ? answer("kvm", reason, seconds, qemu, ret) : -ENOMEM;
	}
	reason = str_format("%s opens, but the probe guest does not run under KVM: %s: %s", KVM_DEVICE,
			    json_get_string(result, "status"), error ? error : title ? title : "no reason");
	return reason ? answer("tcg", reason, seconds, qemu, ret) : -ENOMEM;
}

int run_probe(const struct run_probe *probe, struct error *err, json_t **ret)
{
	static const struct run_vm_hooks hooks = { .keep_console = false };
	const struct probe_machine *m = find_machine(probe->arch);
	_cleanup_(run_job_done) struct run_job job = RUN_JOB_INIT;
	_cleanup_free_ char *qemu = NULL, *why_not = NULL;
	_cleanup_json_ json_t *result = NULL;
	int r;

	if (!m)
		return error_set(err, -EINVAL, "there is no machine for arch \"%s\"", probe->arch);
	r = probe_job(probe, m, err, &job);
	if (r < 0)
		return r;
	qemu = qemu_version(m->qemu);
	why_not = qemu ? obstacle(m) : str_format("%s: program not found", m->qemu);
	if (why_not || !qemu)
		return answer("tcg", why_not ? why_not : "unknown", 0.0, qemu, ret);
	r = run_vm(&job, &hooks, err, &result);
	if (r < 0)
		return r;
	return answer_result(result, qemu, ret);
}
