// What the commits of the demo history change. All of it is text in, text out: an edit is handed the content of a file (a latin1
// string: one character a byte) and returns the new content, or null when the file does not hold the text it looks for. So one
// table serves every 6.x tree; what does not fit a tree is simply not used there.
//
// Rules: an edit of a compiled file gives no new warning with clang 14; no edit comes near the lines of CULPRIT and FIX.

// ---- the planted regression and its fix (f35b5d7d and 81e506be)

export const CULPRIT = {
	file: 'mm/mmap.c',
	subject: 'mm: align larger anonymous mappings on THP boundaries',
	body: [
		'Align larger anonymous memory mappings on THP boundaries by going through\n' +
		'thp_get_unmapped_area() if THPs are enabled for the current process.',
		'With this, larger anonymous mappings get huge pages right from their first\n' +
		'page, which programs with a few big arenas like a lot.'],
	apply: content => replaceOnce(content,
		'\t\tpgoff = 0;\n\t\tget_area = shmem_get_unmapped_area;\n\t}\n',
		'\t\tpgoff = 0;\n\t\tget_area = shmem_get_unmapped_area;\n\t} else if (IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE)) {\n' +
		'\t\t/* Ensures that larger anonymous mappings are THP aligned. */\n\t\tget_area = thp_get_unmapped_area;\n\t}\n'),
};

export const FIX = {
	file: 'mm/huge_memory.c',
	subject: 'mm/thp: check and bail out if page in deferred queue already',
	body: [
		'ld.lld gives the stacks of its threads back with madvise(MADV_DONTNEED) and a\n' +
		'length that is no multiple of PMD_SIZE. If the memory is a THP, it is unmapped\n' +
		'in parts, and each part takes split_queue_lock, even when the page is on the\n' +
		'deferred queue already.',
		'Check and bail out before taking the lock. The check without the lock can race\n' +
		'with deferred_split_scan(), but that does not matter for correctness here.'],
	apply: content => replaceOnce(content,
		'\tspin_lock_irqsave(&ds_queue->split_queue_lock, flags);\n\tif (list_empty(page_deferred_list(page))) {\n',
		'\tif (!list_empty(page_deferred_list(page)))\n\t\treturn;\n\n' +
		'\tspin_lock_irqsave(&ds_queue->split_queue_lock, flags);\n\tif (list_empty(page_deferred_list(page))) {\n'),
};

// ---- tools

export function replaceOnce(content, from, to) {
	const at = content.indexOf(from);
	if (at < 0 || content.indexOf(from, at + 1) >= 0)
		return null;
	return content.slice(0, at) + to + content.slice(at + from.length);
}

function replaceAll(content, pairs) {
	for (const [from, to] of pairs) {
		content = replaceOnce(content, from, to);
		if (content === null)
			return null;
	}
	return content;
}

// The text of the function that begins with `head`, as [from, to).
function functionRange(content, head) {
	const from = content.indexOf('\n' + head);
	if (from < 0 || content.indexOf('\n' + head, from + 1) >= 0)
		return null;
	const end = content.indexOf('\n}\n', from);
	return end < 0 ? null : [from + 1, end + 3];
}

// Renames a local variable of one function; `keepLast` forgets the last use, which then does not compile.
function renameLocal(content, head, from, to, keepLast) {
	const range = functionRange(content, head);
	if (!range)
		return null;
	const body = content.slice(...range);
	const word = new RegExp(`(?<!->|\\.|\\w)${from}\\b`, 'g');
	const uses = body.match(word)?.length ?? 0;
	if (uses < 3 || new RegExp(`\\b${to}\\b`).test(body))
		return null;
	let seen = 0;
	const out = body.replace(word, w => ++seen === uses && keepLast ? w : to);
	return content.slice(0, range[0]) + out + content.slice(range[1]);
}

// ---- compiled files: edits by hand. {file, subject, body, apply}; those with `broken` have a version that does not compile.

function swap(kind, file, subject, body, ...pairs) {
	return { kind, file, subject, body: [body], apply: c => replaceAll(c, pairs) };
}

function rename(file, where, head, from, to) {
	const name = /^SYSCALL_DEFINE\d\((\w+)$/.exec(head)?.[1] ?? /(\w+)\($/.exec(head)[1];
	const subject = `${where}: rename ${from} in ${name}()`;
	return {
		kind: 'rename', file, subject,
		body: [`${to} says what the variable is for. No functional change.`],
		apply: c => renameLocal(c, head, from, to, false),
		broken: {
			subject, body: [`${to} says what the variable is for.`],
			apply: c => renameLocal(c, head, from, to, true),
			repairSubject: `${where}: fix the build after a rename`,
			repairBody: `The last use of ${from} was forgotten: it is undeclared now. Use ${to} there, too.`,
		},
	};
}

export const COMPILED_EDITS = [
	rename('mm/mprotect.c', 'mm/mprotect', 'static int do_mprotect_pkey(', 'tmp', 'vend'),
	rename('mm/mprotect.c', 'mm/mprotect', 'static int do_mprotect_pkey(', 'nstart', 'cursor'),
	rename('mm/mlock.c', 'mm/mlock', 'static int apply_vma_lock_flags(', 'tmp', 'vend'),
	rename('mm/mlock.c', 'mm/mlock', 'static int apply_vma_lock_flags(', 'nstart', 'cursor'),
	rename('mm/mlock.c', 'mm/mlock', 'static unsigned long count_mm_mlocked_page_nr(', 'count', 'locked'),
	rename('mm/msync.c', 'mm/msync', 'SYSCALL_DEFINE3(msync', 'fstart', 'first_byte'),
	rename('mm/vmalloc.c', 'mm/vmalloc', 'static struct vmap_area *find_vmap_area_exceed_addr(', 'tmp', 'cur'),
	rename('mm/util.c', 'mm/util', 'void *kvrealloc(', 'newp', 'copy'),
	rename('mm/oom_kill.c', 'mm/oom_kill', 'long oom_badness(', 'points', 'weight'),
	rename('kernel/sys.c', 'kernel/sys', 'SYSCALL_DEFINE1(getsid', 'sid', 'session'),

	swap('helper', 'kernel/sys.c', 'kernel/sys: add umask_bits()',
		'A name for the bits of a umask that count. No functional change.',
		['SYSCALL_DEFINE1(umask, int, mask)\n{\n\tmask = xchg(&current->fs->umask, mask & S_IRWXUGO);\n',
			'static inline int umask_bits(int mask)\n{\n\treturn mask & S_IRWXUGO;\n}\n\n' +
			'SYSCALL_DEFINE1(umask, int, mask)\n{\n\tmask = xchg(&current->fs->umask, umask_bits(mask));\n']),
	swap('helper', 'mm/mlock.c', 'mm/mlock: add mlock_range_pages()',
		'The number of pages of a range is about to be needed at a second place.\nNo functional change.',
		['/*\n * mlock_fixup  - handle mlock[all]/munlock[all] requests.\n',
			'static int mlock_range_pages(unsigned long start, unsigned long end)\n{\n\treturn (end - start) >> PAGE_SHIFT;\n}\n\n' +
			'/*\n * mlock_fixup  - handle mlock[all]/munlock[all] requests.\n'],
		['\tnr_pages = (end - start) >> PAGE_SHIFT;\n\tif (!(newflags & VM_LOCKED))\n',
			'\tnr_pages = mlock_range_pages(start, end);\n\tif (!(newflags & VM_LOCKED))\n']),
	swap('helper', 'mm/mincore.c', 'mm/mincore: add mincore_vec_pages()',
		'Counting the bytes of the vector is a thing of its own. No functional change.',
		['/*\n * Later we can get more picky about what "in core" means precisely.\n',
			'static unsigned long mincore_vec_pages(size_t len)\n{\n\tunsigned long pages = len >> PAGE_SHIFT;\n\n' +
			'\treturn pages + (offset_in_page(len) != 0);\n}\n\n' +
			'/*\n * Later we can get more picky about what "in core" means precisely.\n'],
		['\tpages = len >> PAGE_SHIFT;\n\tpages += (offset_in_page(len)) != 0;\n', '\tpages = mincore_vec_pages(len);\n']),
	swap('helper', 'kernel/fork.c', 'fork: add set_clear_child_tid()',
		'One place that says what the pointer is for. No functional change.',
		['SYSCALL_DEFINE1(set_tid_address, int __user *, tidptr)\n{\n\tcurrent->clear_child_tid = tidptr;\n',
			'static inline void set_clear_child_tid(struct task_struct *tsk, int __user *tidptr)\n{\n' +
			'\t/* Zeroed, and its futex woken, when the task is gone. */\n\ttsk->clear_child_tid = tidptr;\n}\n\n' +
			'SYSCALL_DEFINE1(set_tid_address, int __user *, tidptr)\n{\n\tset_clear_child_tid(current, tidptr);\n']),
	swap('helper', 'mm/util.c', 'mm/util: read sysctl_overcommit_kbytes once',
		'It can change between the two reads. READ_ONCE() says so.',
		['\tunsigned long allowed;\n\n\tif (sysctl_overcommit_kbytes)\n\t\tallowed = sysctl_overcommit_kbytes >> (PAGE_SHIFT - 10);\n',
			'\tunsigned long kbytes = READ_ONCE(sysctl_overcommit_kbytes);\n\tunsigned long allowed;\n\n' +
			'\tif (kbytes)\n\t\tallowed = kbytes >> (PAGE_SHIFT - 10);\n']),
	swap('helper', 'mm/mmap.c', 'mm/mmap: annotate the read of sysctl_max_map_count',
		'The sysctl is written without mmap_lock. READ_ONCE() says so.',
		['\t/* Too many mappings? */\n\tif (mm->map_count > sysctl_max_map_count)\n',
			'\t/* Too many mappings? */\n\tif (mm->map_count > READ_ONCE(sysctl_max_map_count))\n']),

	swap('warn', 'mm/mincore.c', 'mm/mincore: warn about a range that ends before it begins',
		'Cannot happen: the caller has walked the range. Say so.',
		['\tint i;\n\n\tif (vma->vm_file) {\n\t\tpgoff_t pgoff;\n',
			'\tint i;\n\n\tWARN_ON_ONCE(end < addr);\n\tif (vma->vm_file) {\n\t\tpgoff_t pgoff;\n']),
	swap('warn', 'mm/mremap.c', 'mm/mremap: warn about lengths that are not aligned',
		'Both have just been aligned. Document what the rest relies on.',
		['\tnew_len = PAGE_ALIGN(new_len);\n\n\t/*\n\t * We allow a zero old-len as a special case\n',
			'\tnew_len = PAGE_ALIGN(new_len);\n\tWARN_ON_ONCE(offset_in_page(old_len) || offset_in_page(new_len));\n\n' +
			'\t/*\n\t * We allow a zero old-len as a special case\n']),
	swap('warn', 'mm/msync.c', 'mm/msync: warn about an empty part of a range',
		'start < vm_end holds for each vma that is looked at. Say so.',
		['\t\tfile = vma->vm_file;\n\t\tfstart = (start',
			'\t\tWARN_ON_ONCE(start >= vma->vm_end);\n\t\tfile = vma->vm_file;\n\t\tfstart = (start']),
	swap('warn', 'mm/mlock.c', 'mm/mlock: warn about a populate error that is positive',
		'__mm_populate() returns 0 or a negative error. Say so.',
		['static int __mlock_posix_error_return(long retval)\n{\n',
			'static int __mlock_posix_error_return(long retval)\n{\n\tWARN_ON_ONCE(retval > 0);\n']),
	swap('warn', 'kernel/fork.c', 'fork: warn about a machine without memory',
		'set_max_threads() divides nothing by it, but the result would be nonsense.',
		['\t/*\n\t * The number of threads shall be limited such that the thread\n',
			'\tWARN_ON_ONCE(!nr_pages);\n\n\t/*\n\t * The number of threads shall be limited such that the thread\n']),

	swap('text', 'mm/vmalloc.c', 'mm/vmalloc: say what failed in the message',
		'"vmap allocation" is not what people search for.',
		['"vmap allocation for size %lu failed: use vmalloc=<size> to increase size\\n"',
			'"no room for a vmap of %lu bytes: use vmalloc=<size> to increase the area\\n"']),
	swap('text', 'mm/page_alloc.c', 'mm/page_alloc: "Zone ranges" are of memory',
		'There are other zones in a log.', ['"Zone ranges:\\n"', '"Memory zone ranges:\\n"']),
	swap('text', 'mm/oom_kill.c', 'mm/oom_kill: make two messages whole sentences',
		'As in the rest of the file.',
		['"OOM killer enabled.\\n"', '"OOM killer is enabled.\\n"'], ['"OOM killer disabled.\\n"', '"OOM killer is disabled.\\n"']),
	swap('text', 'mm/memblock.c', 'memblock: do not shout',
		'Debug output; nobody parses it.', ['"MEMBLOCK configuration:\\n"', '"memblock configuration:\\n"']),
	swap('text', 'mm/percpu.c', 'percpu: lose a full word in a message',
		'The rate limit is said already.', ['"limit reached, disable warning\\n"', '"limit reached, no more warnings\\n"']),
	swap('text', 'kernel/signal.c', 'signal: shorten the fatal signal message',
		'"potentially" is what print-fatal-signals is about.',
		['"potentially unexpected fatal signal %d.\\n"', '"unexpected fatal signal %d\\n"']),
	swap('text', 'kernel/pid.c', 'pid: tidy the pid_max line',
		'Two colons in one line are one too many.',
		['"pid_max: default: %u minimum: %u\\n"', '"pid_max: default %u, minimum %u\\n"']),
	swap('text', 'kernel/reboot.c', 'reboot: say "power off" where it is meant',
		'"shutdown" is what the command is called elsewhere.',
		['"Failed to start orderly shutdown: forcing the issue\\n"', '"Failed to start orderly power off: forcing the issue\\n"']),
	swap('text', 'kernel/params.c', 'params: the kernel does not know a parameter',
		'Grammar.', ['"%s: Unknown parameter `%s\'\\n"', '"%s: unknown parameter `%s\'\\n"']),
];

// ---- edits of any file of a kind, at a place that the random source picks

const WORDS = [
	[/\bwhich\b/, 'that'], [/\bbecause\b/, 'since'], [/\bcannot\b/, 'can not'], [/\bcurrently\b/, 'at present'], [/\bmust\b/, 'has to'],
	[/\bdon't\b/, 'do not'], [/\bcan't\b/, 'cannot'], [/\bit's\b/, 'it is'], [/\bsimply\b/, 'just'], [/\balready\b/, 'by now'],
	[/\bhowever\b/, 'but'], [/\bi\.e\. /, 'that is '], [/\be\.g\. /, 'for example '], [/\bwhether\b/, 'if'],
];

// [line number, word pair] of each line inside a block comment that holds one of WORDS.
function commentPlaces(lines, limit) {
	const places = [];
	let inside = false;
	for (const [i, line] of lines.slice(0, limit).entries()) {
		if (inside && /^\s*\* [A-Za-z]/.test(line) && !/[@\\]|\*\/|\/\*/.test(line)) {
			const pair = WORDS.find(([re]) => re.test(line));
			if (pair)
				places.push([i, pair]);
		}
		const open = line.lastIndexOf('/*'), close = line.lastIndexOf('*/');
		if (open > close)
			inside = true;
		else if (close >= 0)
			inside = false;
	}
	return places;
}

// A word of a comment: no line moves, so that not even __LINE__ can change the object.
export function editComment(content, rng, limit = Infinity) {
	const lines = content.split('\n');
	const places = commentPlaces(lines, limit);
	if (!places.length)
		return null;
	const [i, [re, word]] = rng.pick(places);
	lines[i] = lines[i].replace(re, word);
	return lines.join('\n');
}

// A line more in a block comment: lines below move, the code does not.
export function editCommentLines(content, rng, limit = Infinity) {
	const lines = content.split('\n'), places = [];
	for (let i = 1; i < Math.min(lines.length, limit); i++)
		if (lines[i] === ' */' && /^ \* [A-Za-z][^@]*\.$/.test(lines[i - 1]))
			places.push(i);
	if (!places.length)
		return null;
	lines.splice(rng.pick(places), 0, ' *', ` * ${rng.pick(REMARKS)}`);
	return lines.join('\n');
}

const REMARKS = [
	'Callers hold the lock that the comment above names.', 'This is a slow path; keep it simple.',
	'See the commit that added this for the history.', 'The order of the checks matters to nobody.',
	'Nothing here may sleep, unless it says so.', 'May be called early, before the first CPU is up.',
];

// A message of a driver: "failed to" and its kin change places.
export function editMessage(content, rng) {
	const places = [...content.matchAll(/"(?:[^"\n]*: )?([Ff]ailed to|[Uu]nable to|[Cc]ould not) /g)];
	if (!places.length)
		return null;
	const m = rng.pick(places), at = m.index + m[0].lastIndexOf(m[1]);
	const low = m[1].toLowerCase() === 'unable to' ? 'failed to' : 'unable to';
	const word = /^[A-Z]/.test(m[1]) ? low[0].toUpperCase() + low.slice(1) : low;
	return content.slice(0, at) + word + content.slice(at + m[1].length);
}

// A function more at the end of a compiled file, which nobody calls but the linker keeps: another image that works the same.
export const addFunction = (content, name, k) =>
	`${content}\nstatic int __used ${name}(int x)\n{\n\tfor (int i = 0; i < x; i++)\n\t\tx ^= i * ${k};\n\treturn x;\n}\n`;

const DOC_SENTENCES = [
	'The numbers above are examples; they differ from machine to machine.', 'See also the man page, where there is one.',
	'This holds for every architecture that has an MMU.', 'What is said here about pages is true of folios, too.',
	'A later version may lift this limit.', 'On small machines the default is lower.',
	'Nothing of this is part of the stable user interface.', 'The counters in /proc/vmstat tell more.',
];

export function editDocument(content, rng) {
	const lines = content.split('\n'), places = [];
	for (let i = 1; i < lines.length - 1; i++)         // the end of a paragraph that starts at the left edge
		if (lines[i] === '' && /^[A-Za-z].*\.$/.test(lines[i - 1]) && /^([A-Za-z].*)?$/.test(lines[i + 1]))
			places.push(i);
	if (!places.length)
		return null;
	lines.splice(rng.pick(places), 0, '', rng.pick(DOC_SENTENCES));
	return lines.join('\n');
}

// ---- which files: [path, subject prefix, limit of lines that may be touched]

export const DOCUMENTS = [
	...['concepts', 'hugetlbpage', 'idle_page_tracking', 'ksm', 'memory-hotplug', 'numa_memory_policy', 'pagemap', 'soft-dirty',
		'transhuge', 'userfaultfd', 'zswap'].map(n => [`Documentation/admin-guide/mm/${n}.rst`, 'docs/admin-guide/mm']),
	...['active_mm', 'balance', 'highmem', 'hmm', 'hugetlbfs_reserv', 'hwpoison', 'memory-model', 'numa', 'overcommit-accounting',
		'page_migration', 'slub', 'transhuge', 'unevictable-lru', 'zsmalloc'].map(n => [`Documentation/mm/${n}.rst`, 'docs/mm']),
];

export const ARCH_FILES = [
	['arch/mips/mm/c-r4k.c', 'MIPS'], ['arch/mips/kernel/traps.c', 'MIPS'], ['arch/powerpc/mm/fault.c', 'powerpc/mm'],
	['arch/powerpc/kernel/setup_64.c', 'powerpc/64'], ['arch/s390/mm/fault.c', 's390/mm'], ['arch/s390/kernel/setup.c', 's390/setup'],
	['arch/sparc/mm/init_64.c', 'sparc64'], ['arch/riscv/mm/init.c', 'riscv: mm'], ['arch/m68k/kernel/traps.c', 'm68k'],
	['arch/parisc/mm/init.c', 'parisc'], ['arch/alpha/kernel/setup.c', 'alpha'], ['arch/arm/mm/fault.c', 'ARM: mm'],
	['arch/arm/kernel/setup.c', 'ARM'], ['arch/xtensa/mm/fault.c', 'xtensa'],
];

export const DRIVER_FILES = [
	['drivers/net/ethernet/realtek/r8169_main.c', 'r8169'], ['drivers/net/ethernet/intel/e1000e/netdev.c', 'e1000e'],
	['drivers/net/wireless/ath/ath9k/main.c', 'ath9k'], ['drivers/gpu/drm/drm_edid.c', 'drm/edid'],
	['drivers/gpu/drm/radeon/r600.c', 'drm/radeon'], ['drivers/media/usb/uvc/uvc_video.c', 'media: uvcvideo'],
	['drivers/media/i2c/ov5640.c', 'media: ov5640'], ['drivers/usb/storage/usb.c', 'usb-storage'],
	['drivers/scsi/aacraid/commsup.c', 'scsi: aacraid'], ['drivers/mtd/nand/raw/nand_base.c', 'mtd: rawnand'],
	['drivers/infiniband/hw/mlx5/main.c', 'IB/mlx5'], ['drivers/md/dm-thin.c', 'dm thin'], ['drivers/hwmon/it87.c', 'hwmon: (it87)'],
	['sound/pci/hda/hda_intel.c', 'ALSA: hda'], ['sound/soc/codecs/wm8994.c', 'ASoC: wm8994'], ['fs/btrfs/scrub.c', 'btrfs: scrub'],
	['fs/xfs/xfs_buf.c', 'xfs'], ['fs/ocfs2/dlm/dlmdomain.c', 'ocfs2/dlm'], ['net/mac80211/mlme.c', 'wifi: mac80211'],
];

// Compiled by every small config. The limits keep away from the culprit (mm/mmap.c) and the fix (mm/huge_memory.c).
export const COMPILED_FILES = [
	...['fork', 'exit', 'signal', 'sys', 'pid', 'softirq', 'workqueue', 'kthread', 'resource', 'panic'].map(n => [`kernel/${n}.c`, n]),
	['kernel/time/timer.c', 'timers'], ['kernel/time/hrtimer.c', 'hrtimer'], ['kernel/sched/core.c', 'sched/core'],
	['kernel/sched/fair.c', 'sched/fair'],
	...['filemap', 'page_alloc', 'vmscan', 'vmalloc', 'memory', 'rmap', 'gup', 'mlock', 'mremap', 'oom_kill', 'page-writeback', 'percpu',
		'readahead', 'shmem', 'swap', 'truncate', 'util', 'madvise'].map(n => [`mm/${n}.c`, `mm/${n}`]),
	['mm/mmap.c', 'mm/mmap', 1500], ['mm/huge_memory.c', 'mm/thp', 1500],
];
