// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/environment.h"

#include "daemon/accel.h"
#include "daemon/target.h"

static const struct target *machine_line(struct engine *e, const char *arch, const char *workload, const char *class,
					 json_t *machines)
{
	const struct target *t;

	if (target_get(e, arch, workload, class, NULL, &t) < 0)
		return NULL;
	(void)json_object_set_new(machines, class,
				  json_sprintf("%s: %s, %d vCPU, %u MiB, %s, %s", t->machine.name, t->machine.cpu,
					       machine_vcpus(&t->machine), t->machine.memory_mib, t->machine.type, t->accel));
	return t;
}

int environment_add(struct engine *e, const char *arch, const char *workload, bool exact, bool time, json_t *doc)
{
	_cleanup_free_ char *qemu = NULL, *reason = NULL;
	json_t *machines = json_object();
	const struct target *t = NULL;

	if (exact)
		t = machine_line(e, arch, workload, "exact", machines);
	if (time) {
		const struct target *timing = machine_line(e, arch, workload, "time", machines);

		t = t ? t : timing;
	}
	if (t && program_version(t->machine.qemu, NULL, &qemu) >= 0) {
		(void)json_object_set_new(doc, "qemu", json_string(qemu));
		(void)accel_reason(e, arch, qemu, &reason);
	}
	(void)json_object_set_new(doc, "accelerator", json_string(reason ? reason : t ? t->accel : "tcg"));
	(void)json_object_set_new(doc, "toolchain", json_string(e->toolchain));
	return json_object_set_new(doc, "machines", machines) < 0 ? -ENOMEM : 0;
}
