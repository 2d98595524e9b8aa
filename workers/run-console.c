// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/run-console.h"

#include <ctype.h>
#include <fcntl.h>

enum weight { NOTED, FATAL, IGNORED };

/* First match wins. What TCG or a loaded host brings about without a bug is only noted. */
static const struct cry {
	const char *start;
	enum weight weight;
	const char *class;
} cries[] = {
	{ "BUG: soft lockup", NOTED, "lockup" },
	{ "BUG: workqueue lockup", NOTED, "lockup" },
	{ "BUG: sleeping function called", NOTED, "bug" },
	{ "BUG: scheduling while atomic", NOTED, "bug" },
	{ "watchdog: BUG: soft lockup", NOTED, "lockup" },
	{ "NMI watchdog: Watchdog detected hard LOCKUP", NOTED, "lockup" },
	{ "watchdog: Watchdog detected hard LOCKUP", NOTED, "lockup" },
	{ "watchdog: CPU", NOTED, "lockup" },
	{ "BUG:", FATAL, "bug" },
	{ "BUG kmalloc-", FATAL, "bug" },
	{ "kernel BUG at ", FATAL, "bug" },
	{ "Kernel BUG at ", FATAL, "bug" },
	{ "Kernel panic - not syncing", FATAL, "panic" },
	{ "general protection fault", FATAL, "oops" },
	{ "stack segment:", FATAL, "oops" },
	{ "divide error:", FATAL, "oops" },
	{ "invalid opcode:", FATAL, "oops" },
	{ "int3:", FATAL, "oops" },
	{ "PANIC: double fault", FATAL, "oops" },
	{ "traps: PANIC: double fault", FATAL, "oops" },
	{ "SError Interrupt on ", FATAL, "oops" },
	{ "Bad mode in ", FATAL, "oops" },
	{ "Insufficient stack space to handle exception", FATAL, "oops" },
	{ "Unexpected kernel BRK exception", FATAL, "oops" },
	{ "Unable to handle kernel", FATAL, "oops" },
	{ "Internal error:", FATAL, "oops" },
	{ "Unhandled fault:", FATAL, "oops" },
	{ "Oops", FATAL, "oops" },
	{ "VFS: Unable to mount root", FATAL, "panic" },
	{ "No working init found", FATAL, "panic" },
	{ "Attempted to kill init!", FATAL, "panic" },
	{ "Failed to execute /init", NOTED, "boot" },
	{ "Initramfs unpacking failed", NOTED, "boot" },
	{ "WARNING: workqueue cpumask", IGNORED, NULL },
	{ "WARNING: Unprivileged eBPF", IGNORED, NULL },
	{ "WARNING: ", NOTED, "warning" },
	{ "UBSAN:", NOTED, "warning" },
	{ "INFO: rcu", NOTED, "stall" },
	{ "rcu: INFO: rcu", NOTED, "stall" },
	{ "INFO: task ", NOTED, "hung" },
	{ "Out of memory: Killed", NOTED, "oom" },
};

int run_console_open(struct run_console *console, const char *path, struct error *err)
{
	struct run_console c = { .fd = -1, .line = STR_INIT, .warnings = json_array() };

	if (!c.warnings)
		return error_errno(err, -ENOMEM, "console");
	if (path) {
		c.fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);
		if (c.fd < 0) {
			int r = -errno;

			json_decref(c.warnings);
			return error_errno(err, r, "cannot open the console file %s", path);
		}
	}
	*console = c;
	return 0;
}

void run_console_done(struct run_console *console)
{
	console->fd = close_fd(console->fd);
	str_done(&console->line);
	free(console->crash_title);
	console->crash_title = NULL;
	json_decref(console->warnings);
	console->warnings = NULL;
}

static void write_file(struct run_console *console, const char *data, size_t len)
{
	while (len && !console->write_error) {
		ssize_t n = write(console->fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			console->write_error = -errno;
			return;
		}
		data += n;
		len -= (size_t)n;
	}
}

static void keep(struct run_console *console, const char *data, size_t len)
{
	static const char note[] = "\n[mmbisect: the console is longer, the rest is not kept]\n";
	size_t room = RUN_CONSOLE_FILE_MAX - console->kept;

	if (console->fd < 0 || console->cut)
		return;
	write_file(console, data, MIN(len, room));
	console->kept += MIN(len, room);
	if (len > room) {
		write_file(console, note, sizeof(note) - 1);
		console->cut = true;
	}
}

/* Skips a [bracketed] part of printk's prefix; NULL when there is none. */
static const char *skip_bracket(const char *p, const char *chars)
{
	size_t n;

	if (*p != '[')
		return NULL;
	n = strspn(p + 1, chars);
	if (!n || p[1 + n] != ']')
		return NULL;
	return p + n + 2;
}

static const char *skip_level(const char *p)
{
	size_t n = *p == '<' ? strspn(p + 1, "0123456789") : 0;

	return n && p[1 + n] == '>' ? p + n + 2 : p;
}

static const char *skip_dropped(const char *p)
{
	const char *end;

	if (!str_starts(p, "** "))
		return p;
	end = strstr(p + 3, " ** ");
	return end ? end + 4 : p;
}

/* The message behind printk's prefix: "** 12 printk messages dropped ** <6>[    1.234567][    T1] text". */
static const char *skip_prefix(const char *line, bool *ret_stamped)
{
	const char *p = skip_level(skip_dropped(line)), *next;

	next = skip_bracket(p, " 0123456789.");
	*ret_stamped = next != NULL;
	if (!next)
		return line;
	p = next + strspn(next, " ");
	next = skip_bracket(p, " TC0123456789");
	if (next)
		p = next + strspn(next, " ");
	return p;
}

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Length of an address at p ("0x…", or 8 and more hex digits), else 0. */
static size_t address_length(const char *p)
{
	size_t n;

	if (p[0] == '0' && p[1] == 'x' && (n = strspn(p + 2, "0123456789abcdefABCDEF")))
		return n + 2;
	n = strspn(p, "0123456789abcdef");
	return n >= 8 && !word_char(p[n]) ? n : 0;
}

/* Where the kernel names the task that happened to run; `end` are the characters that its name may end before. */
static const struct task_name {
	const char *before, *end;
} task_names[] = {
	{ " in process ", "  " },		 /* BUG: Bad page state in process stress  pfn:1a2b3 */
	{ "INFO: task ", ":" },			 /* INFO: task kworker/u4:2:31 blocked for more than 120 seconds. */
	{ "scheduling while atomic: ", "/" },	 /* BUG: scheduling while atomic: bench/71/0x00000002 */
	{ " stuck for NUMs! [", ":" },		 /* watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [bench:71] */
	{ " on CPU#NUM, ", "/" },		 /* BUG: spinlock bad magic on CPU#0, bench/71 */
	{ "Out of memory: Killed process NUM (", ")" },
};

/* What numbers a thing: "CPU0", "pfn:1a2b3", "pte:…". A letter in front of a digit is part of a name else. */
static const struct {
	const char *before, *digits, *instead;
} counted[] = {
	{ "CPU", "0123456789", "NUM" },
	{ "pfn:", "0123456789abcdef", "ADDR" },
	{ "mm:", "0123456789abcdef", "ADDR" },
};

static bool str_has_end(const struct str *s, const char *end)
{
	size_t n = strlen(end);

	return s->len >= n && memcmp(s->data + s->len - n, end, n) == 0;
}

/* Of a name that ends before the last such character of its word, as it may have some of its own. 0: there is none here. */
static size_t task_length(const struct str *title, const char *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(task_names); i++) {
		const struct task_name *t = &task_names[i];
		const char *end = str_has_end(title, t->before) ? strstr(p, t->end) : NULL;
		size_t word, n;

		if (!end)
			continue;
		if (strchr(" )", *t->end))
			return (size_t)(end - p);
		word = strcspn(p, " ");
		for (n = word; n > 0 && p[n - 1] != *t->end; n--)
			;
		if (n && str_eq(t->before, "scheduling while atomic: ")) /* its pid and count are behind it */
			for (n--; n > 0 && p[n - 1] != '/'; n--)
				;
		return n ? n - 1 : 0;
	}
	return 0;
}

/* Length at p, *ret_instead what stands for it; 0: it stays. */
static size_t counted_length(const struct str *title, const char *p, const char **ret_instead)
{
	for (size_t i = 0; i < ARRAY_SIZE(counted); i++) {
		size_t n = str_has_end(title, counted[i].before) ? strspn(p, counted[i].digits) : 0;

		*ret_instead = counted[i].instead;
		if (n && !word_char(p[n]))
			return n;
	}
	return 0;
}

/* What differs from run to run at p: its length, and what stands for it in a title; 0: none. */
static size_t variable_length(const struct str *title, const char *start, const char *p, const char **ret_instead)
{
	bool starts = p == start || !word_char(p[-1]);
	size_t n = task_length(title, p);

	*ret_instead = "COMM";
	if (n)
		return n;
	n = counted_length(title, p, ret_instead);
	if (n || !starts)
		return n;
	*ret_instead = "ADDR";
	n = address_length(p);
	if (n)
		return n;
	*ret_instead = "NUM";
	return strspn(p, "0123456789");
}

char *run_title(const char *text)
{
	_cleanup_free_ char *clean = str_sanitize_line(text, strlen(text));
	_cleanup_str_ struct str s = STR_INIT;
	size_t cut;

	if (!clean)
		return NULL;
	for (const char *p = clean; *p;) {
		const char *instead;
		size_t n = variable_length(&s, clean, p, &instead);

		if (n)
			(void)str_add(&s, instead);
		else
			(void)str_add_mem(&s, p, 1);
		p += n ? n : 1;
	}
	cut = s.len > RUN_TITLE_MAX ? RUN_TITLE_MAX : s.len;
	while (cut < s.len && cut && ((unsigned char)s.data[cut] & 0xc0) == 0x80)
		cut--; /* not through a UTF-8 sequence */
	while (cut && s.data[cut - 1] == ' ')
		cut--;
	return s.failed ? NULL : str_format("%.*s", (int)cut, s.data);
}

static bool have_warning(const json_t *warnings, const char *title)
{
	const json_t *w;
	size_t i;

	json_array_foreach(warnings, i, w)
		if (str_eq(json_string_value(w), title))
			return true;
	return false;
}

static int note(struct run_console *console, const char *text)
{
	_cleanup_free_ char *title = NULL;

	if (json_array_size(console->warnings) >= RUN_WARNINGS_MAX)
		return 0;
	title = run_title(text);
	if (!title)
		return -ENOMEM;
	if (have_warning(console->warnings, title))
		return 0;
	return json_array_append_new(console->warnings, json_string(title)) < 0 ? -ENOMEM : 0;
}

static int crash(struct run_console *console, const struct cry *cry, const char *text)
{
	if (console->crash_class)
		return 0; /* the first one is the cause, the others follow from it */
	console->crash_title = run_title(text);
	if (!console->crash_title)
		return -ENOMEM;
	console->crash_class = cry->class;
	console->want_place = strcmp(cry->class, "panic") != 0;
	return 0;
}

/* "RIP: 0010:func+0x1/0x2" (x86), "pc : func+0x1/0x2" (arm64): where it happened. */
static int find_place(struct run_console *console, const char *text)
{
	const char *func = NULL;
	char *title;
	size_t n;

	if (str_starts(text, "RIP: ") && (func = strchr(text + 5, ':')))
		func++;
	else if (str_starts(text, "pc : "))
		func = text + 5;
	if (!func)
		return 0;
	console->want_place = false;
	n = strcspn(func, "+ ");
	if (!n || n > 64 || func[n] != '+' || strstr(console->crash_title, " in "))
		return 0;
	n = strcspn(func, "+."); /* .isra.0, .cold: what the compiler made of it */
	if (!n)
		return 0;
	title = str_format("%.*s in %.*s", (int)(RUN_TITLE_MAX - 4 - n), console->crash_title, (int)n, func);
	if (!title)
		return -ENOMEM;
	free(console->crash_title);
	console->crash_title = title;
	return 0;
}

static int take_text(struct run_console *console, const char *text)
{
	if (console->want_place) {
		int r = find_place(console, text);

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < ARRAY_SIZE(cries); i++) {
		if (!str_starts(text, cries[i].start))
			continue;
		if (cries[i].weight == FATAL)
			return crash(console, &cries[i], text);
		return cries[i].weight == NOTED ? note(console, text) : 0;
	}
	return 0;
}

static int take_line(struct run_console *console)
{
	const char *text;
	bool stamped;
	int r = 0;

	while (console->line.len && console->line.data[console->line.len - 1] == '\r')
		console->line.data[--console->line.len] = '\0';
	text = skip_prefix(console->line.data, &stamped);
	if (!console->measured && (stamped || !console->stamped))
		r = take_text(console, text);
	console->stamped |= stamped;
	str_clear(&console->line);
	return r;
}

int run_console_feed(struct run_console *console, const char *data, size_t len)
{
	console->bytes += len;
	keep(console, data, len);
	while (len) {
		const char *newline = memchr(data, '\n', len);
		size_t n = newline ? (size_t)(newline - data) : len;
		size_t room = RUN_CONSOLE_LINE_MAX - MIN(console->line.len, (size_t)RUN_CONSOLE_LINE_MAX);

		if (str_add_mem(&console->line, data, MIN(n, room)) < 0)
			return -ENOMEM;
		if (newline) {
			int r = take_line(console);

			if (r < 0)
				return r;
			n++;
		}
		data += n;
		len -= n;
	}
	return 0;
}

int run_console_end(struct run_console *console)
{
	return console->line.len ? take_line(console) : 0;
}
