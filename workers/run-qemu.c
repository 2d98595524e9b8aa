// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/run-qemu.h"

#include "workers/run-tsc.h"

#define KERNEL_CMDLINE_MAX 2047 /* COMMAND_LINE_SIZE of x86 and arm64, less the NUL */
#define ARGS_MAX 80

struct run_port {
	const char *arch;
	enum run_class class;
	const char *console;	  /* the kernel's name of the console */
	const char *results;	  /* the guest's name of the result port */
	const char *args[9];	  /* NULL terminated */
};

/* Addresses and ids are fixed: the guest must find the same machine in every boot. */
#define X86_CONSOLE "-device", "isa-serial,id=serial0,chardev=console,index=0"
#define ARM_CONSOLE "-serial", "chardev:console"
#define VIRTIO_RESULTS                                                                             \
	"-device", "virtio-serial-pci,id=vser,addr=0x5", "-device",                                \
		"virtserialport,bus=vser.0,nr=1,id=results0,chardev=results,name=results.0"

static const struct run_port ports[] = {
	{ "x86_64", RUN_EXACT, "ttyS0", "/dev/ttyS1",
	  { X86_CONSOLE, "-device", "isa-serial,id=results0,chardev=results,index=1" } },
	{ "arm64", RUN_EXACT, "ttyAMA0", "/dev/ttyS0",
	  { ARM_CONSOLE, "-device", "pci-serial,id=results0,chardev=results,addr=0x5" } },
	{ "x86_64", RUN_TIME, "ttyS0", "name:results.0", { X86_CONSOLE, VIRTIO_RESULTS } },
	{ "arm64", RUN_TIME, "ttyAMA0", "name:results.0", { ARM_CONSOLE, VIRTIO_RESULTS } },
};

static const char *const common_args[] = {
	"-nodefaults", "-no-user-config", "-display", "none", "-nic", "none", "-no-reboot",
	"-action", "panic=exit-failure,reboot=shutdown,shutdown=poweroff,watchdog=poweroff",
	/* a stranger's kernel runs in there */
	"-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny",
	"-device", "pvpanic-pci,id=pvpanic0,addr=0x4",
	"-mon", "chardev=qmp,mode=control", NULL
};
/* Instructions are the clock; nothing of the host is seen. */
static const char *const exact_args[] = {
	"-accel", "tcg", "-icount", "shift=0,sleep=off", "-rtc", "base=1970-01-01,clock=vm", "-seed", "7", NULL
};
static const char *const time_tcg_args[] = { "-accel", "tcg,thread=multi", NULL };
static const char *const time_kvm_args[] = { "-accel", "kvm", NULL };

static const char *const *accel_args(const struct run_job *job)
{
	if (job->class == RUN_EXACT)
		return exact_args;
	return job->accel == RUN_KVM ? time_kvm_args : time_tcg_args;
}

static const struct run_port *find_port(const struct run_job *job)
{
	for (size_t i = 0; i < ARRAY_SIZE(ports); i++)
		if (ports[i].class == job->class && str_eq(ports[i].arch, job->arch))
			return &ports[i];
	return NULL;
}

int run_qemu_supported(const struct run_job *job, struct error *err)
{
	if (find_port(job))
		return 0;
	return error_set(err, -EOPNOTSUPP, "there is no machine for arch \"%s\"", job->arch);
}

/* Not part of the machine: it says what the host is, not what the guest is to be. */
static void add_tsc(const struct run_job *job, struct str *s)
{
	unsigned khz;

	if (job->class == RUN_TIME && str_eq(job->arch, "x86_64") && run_tsc_khz(&khz) >= 0)
		(void)str_addf(s, " tsc_early_khz=%u", khz);
}

int run_kernel_cmdline(const struct run_job *job, struct error *err, char **ret)
{
	const struct run_port *port = find_port(job);
	_cleanup_str_ struct str s = STR_INIT;
	const char *name;
	json_t *value;

	if (!port)
		return run_qemu_supported(job, err);
	/* printk.time: what has no time stamp is no kernel message, see run-console.h */
	(void)str_addf(&s, "console=%s %s%spanic=-1 printk.time=1 mmb.nonce=%s mmb.port=%s mmb.workload=%s",
		       port->console, job->cmdline, *job->cmdline ? " " : "", job->nonce, port->results,
		       job->workload);
	add_tsc(job, &s);
	json_object_foreach((json_t *)(uintptr_t)job->params, name, value)
		(void)str_addf(&s, " mmb.%s=%s", name, json_string_value(value));
	if (s.failed)
		return error_errno(err, -ENOMEM, "kernel command line");
	if (s.len > KERNEL_CMDLINE_MAX)
		return error_set(err, -E2BIG, "the kernel command line is longer than %d characters",
				 KERNEL_CMDLINE_MAX);
	*ret = str_take(&s);
	return 0;
}

char **run_argv_free(char **argv)
{
	for (size_t i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
	return NULL;
}

struct args {
	char **argv; /* ARGS_MAX + 1, zeroed */
	size_t n;
	bool failed;
};

static void add(struct args *a, const char *format, ...) _printf_(2, 3);
static void add(struct args *a, const char *format, ...)
{
	_cleanup_str_ struct str s = STR_INIT;
	va_list ap;

	if (a->n == ARGS_MAX) {
		a->failed = true;
		return;
	}
	va_start(ap, format);
	(void)str_vaddf(&s, format, ap);
	va_end(ap);
	if (s.failed || !(a->argv[a->n] = str_take(&s)))
		a->failed = true;
	else
		a->n++;
}

static void add_all(struct args *a, const char *const *list)
{
	for (; *list; list++)
		add(a, "%s", *list);
}

/* A chardev that writes into an inherited pipe. append: else QEMU would truncate it, which a pipe refuses. */
static void add_pipe(struct args *a, const char *name, int set, int fd)
{
	add(a, "-add-fd");
	add(a, "fd=%d,set=%d", fd, set);
	add(a, "-chardev");
	add(a, "file,id=%s,append=on,path=/dev/fdset/%d", name, set);
}

int run_qemu_argv(const struct run_job *job, const struct run_fds *fds, struct error *err, char ***ret)
{
	_cleanup_free_ char *cmdline = NULL;
	struct args a = { 0 };
	int r;

	r = run_kernel_cmdline(job, err, &cmdline);
	if (r < 0)
		return r;
	a.argv = calloc(ARGS_MAX + 1, sizeof(*a.argv));
	if (!a.argv)
		return error_errno(err, -ENOMEM, "qemu command line");
	add(&a, "%s", job->qemu);
	add_pipe(&a, "console", 1, fds->console);
	add_pipe(&a, "results", 2, fds->results);
	add(&a, "-chardev");
	add(&a, "socket,id=qmp,fd=%d", fds->qmp);
	add_all(&a, accel_args(job));
	add(&a, "-machine");
	add(&a, "%s", job->type);
	add(&a, "-cpu");
	add(&a, "%s", job->cpu);
	add(&a, "-smp");
	/* the MP table lists one processor a socket */
	add(&a, "%u,sockets=%u,cores=1,threads=1", job->vcpus, job->vcpus);
	add(&a, "-m");
	add(&a, "%u", job->memory_mib);
	add_all(&a, common_args);
	add_all(&a, find_port(job)->args);
	add(&a, "-kernel");
	add(&a, "%s", job->kernel);
	add(&a, "-initrd");
	add(&a, "%s", job->initramfs);
	add(&a, "-append");
	add(&a, "%s", cmdline);
	if (a.failed) {
		(void)run_argv_free(a.argv);
		return error_errno(err, -ENOMEM, "qemu command line");
	}
	*ret = a.argv;
	return 0;
}
