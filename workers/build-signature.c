// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/build-signature.h"

#include "lib/str.h"

#include <elf.h>
#include <inttypes.h>
#include <sys/stat.h>

#define NAMES_MAX (UINT64_C(16) << 20)
#define BLOCK 65536
#define BUG_TABLE_MAX (UINT64_C(16) << 20)

struct section {
	uint32_t name, type;
	uint64_t flags, addr, offset, size;
};

struct elf {
	int fd;
	uint64_t size;
	bool wide; /* ELF64 */
	uint16_t machine;
	uint64_t entry, phoff, shoff;
	uint16_t phentsize, phnum, shentsize, shnum, shstrndx;
	struct section *sections;
	char *names; /* NUL terminated */
	uint64_t names_len;
};

static void elf_done(struct elf *e)
{
	free(e->sections);
	free(e->names);
}

static uint64_t le(const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

/* Where a field lies in the 32 and in the 64 bit form. */
struct field {
	unsigned char at32, len32, at64, len64;
};
#define FIELD(type, member)                                                                        \
	{ offsetof(Elf32_##type, member), sizeof(((Elf32_##type *)0)->member),                     \
	  offsetof(Elf64_##type, member), sizeof(((Elf64_##type *)0)->member) }

static uint64_t get(const struct elf *e, const unsigned char *record, struct field f)
{
	return e->wide ? le(record + f.at64, f.len64) : le(record + f.at32, f.len32);
}
#define GET(e, record, type, member) get(e, record, (struct field)FIELD(type, member))

/* -EBADMSG when the range is not inside the file. */
static int read_at(const struct elf *e, uint64_t offset, void *into, size_t len)
{
	if (offset > e->size || len > e->size - offset)
		return -EBADMSG;
	while (len) {
		ssize_t n = pread(e->fd, into, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EBADMSG;
		into = (char *)into + n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int read_header(struct elf *e, struct error *err)
{
	unsigned char h[sizeof(Elf64_Ehdr)];
	int r = read_at(e, 0, h, sizeof(Elf32_Ehdr));

	if (r < 0 || memcmp(h, ELFMAG, SELFMAG) != 0)
		return error_set(err, -EBADMSG, "not an ELF file");
	if (h[EI_DATA] != ELFDATA2LSB || (h[EI_CLASS] != ELFCLASS64 && h[EI_CLASS] != ELFCLASS32))
		return error_set(err, -EBADMSG, "not a little-endian ELF file");
	e->wide = h[EI_CLASS] == ELFCLASS64;
	r = read_at(e, 0, h, e->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
	if (r < 0)
		return error_set(err, r, "the ELF header is cut off");
	e->machine = (uint16_t)GET(e, h, Ehdr, e_machine);
	e->entry = GET(e, h, Ehdr, e_entry);
	e->phoff = GET(e, h, Ehdr, e_phoff);
	e->shoff = GET(e, h, Ehdr, e_shoff);
	e->phentsize = (uint16_t)GET(e, h, Ehdr, e_phentsize);
	e->phnum = (uint16_t)GET(e, h, Ehdr, e_phnum);
	e->shentsize = (uint16_t)GET(e, h, Ehdr, e_shentsize);
	e->shnum = (uint16_t)GET(e, h, Ehdr, e_shnum);
	e->shstrndx = (uint16_t)GET(e, h, Ehdr, e_shstrndx);
	if (!e->shnum || e->shstrndx >= e->shnum)
		return error_set(err, -EBADMSG, "no usable section table");
	if (e->shentsize != (e->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)) ||
	    (e->phnum && e->phentsize != (e->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr))))
		return error_set(err, -EBADMSG, "table entries of an unknown size");
	return 0;
}

static int read_sections(struct elf *e, struct error *err)
{
	unsigned char h[sizeof(Elf64_Shdr)];
	const struct section *names;
	int r;

	e->sections = calloc(e->shnum + 1U, sizeof(*e->sections));
	if (!e->sections)
		return error_errno(err, -ENOMEM, "sections");
	for (size_t i = 0; i < e->shnum; i++) {
		struct section *s = &e->sections[i];

		if (e->shoff > e->size)
			return error_set(err, -EBADMSG, "the section table is cut off");
		r = read_at(e, e->shoff + i * e->shentsize, h, e->shentsize);
		if (r < 0)
			return error_set(err, r, "the section table is cut off");
		s->name = (uint32_t)GET(e, h, Shdr, sh_name);
		s->type = (uint32_t)GET(e, h, Shdr, sh_type);
		s->flags = GET(e, h, Shdr, sh_flags);
		s->addr = GET(e, h, Shdr, sh_addr);
		s->offset = GET(e, h, Shdr, sh_offset);
		s->size = GET(e, h, Shdr, sh_size);
	}
	names = &e->sections[e->shstrndx];
	if (names->type != SHT_STRTAB || names->size > NAMES_MAX)
		return error_set(err, -EBADMSG, "no usable section names");
	e->names = calloc(1, (size_t)names->size + 1);
	if (!e->names)
		return error_errno(err, -ENOMEM, "section names");
	e->names_len = names->size;
	r = read_at(e, names->offset, e->names, (size_t)names->size);
	return r < 0 ? error_set(err, r, "the section names are cut off") : 0;
}

static const char *name_of(const struct elf *e, const struct section *s)
{
	return s->name < e->names_len ? e->names + s->name : "";
}

static int add_text(struct hash *hash, const struct str *s)
{
	return s->failed ? -ENOMEM : hash_add(hash, s->data, s->len);
}

static int add_segments(const struct elf *e, struct hash *hash)
{
	unsigned char h[sizeof(Elf64_Phdr)];
	_cleanup_str_ struct str s = STR_INIT;

	(void)str_addf(&s, "elf%d machine %u entry %" PRIx64 "\n", e->wide ? 64 : 32, e->machine, e->entry);
	for (size_t i = 0; i < e->phnum; i++) {
		int r = e->phoff > e->size ? -EBADMSG : read_at(e, e->phoff + i * e->phentsize, h, e->phentsize);

		if (r < 0)
			return r;
		if (GET(e, h, Phdr, p_type) == PT_LOAD)
			(void)str_addf(&s, "load %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 "\n",
				       GET(e, h, Phdr, p_vaddr), GET(e, h, Phdr, p_paddr),
				       GET(e, h, Phdr, p_memsz), GET(e, h, Phdr, p_flags));
	}
	return add_text(hash, &s);
}

static int add_content(const struct elf *e, const struct section *s, struct hash *hash)
{
	char block[BLOCK];
	int r;

	if (s->offset > e->size || s->size > e->size - s->offset)
		return -EBADMSG;
	for (uint64_t at = 0; at < s->size;) {
		size_t len = (size_t)MIN(s->size - at, sizeof(block));

		r = read_at(e, s->offset + at, block, len);
		if (r >= 0)
			r = hash_add(hash, block, len);
		if (r < 0)
			return r;
		at += len;
	}
	return 0;
}

static bool is_code(const struct elf *e, uint64_t addr)
{
	for (size_t i = 0; i < e->shnum; i++) {
		const struct section *s = &e->sections[i];

		if (s->flags & SHF_EXECINSTR && addr >= s->addr && addr - s->addr < s->size)
			return true;
	}
	return false;
}

/* Every record must begin with the distance from itself to an instruction; else the layout is another one. */
static bool bug_table_has_layout(const struct elf *e, const struct section *s, const unsigned char *table, size_t stride)
{
	if (s->size % stride)
		return false;
	for (uint64_t at = 0; at < s->size; at += stride) {
		uint64_t distance = (uint64_t)(int64_t)(int32_t)le(table + at, 4);
		uint64_t addr = s->addr + at + distance;

		if (!is_code(e, e->wide ? addr : addr & UINT32_MAX))
			return false;
	}
	return true;
}

/* struct bug_entry with relative pointers: {addr, file, line, flags}; newer kernels have {addr, format, file, line, flags}. */
static int add_bug_table(const struct elf *e, const struct section *s, struct hash *hash)
{
	static const struct {
		size_t stride, line;
	} layouts[] = { { 12, 8 }, { 16, 12 } };
	_cleanup_free_ unsigned char *table = NULL;
	int r;

	if (s->size > BUG_TABLE_MAX)
		return add_content(e, s, hash);
	table = malloc((size_t)s->size + 1);
	if (!table)
		return -ENOMEM;
	r = read_at(e, s->offset, table, (size_t)s->size);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		if (!bug_table_has_layout(e, s, table, layouts[i].stride))
			continue;
		for (uint64_t at = 0; at < s->size; at += layouts[i].stride)
			table[at + layouts[i].line] = table[at + layouts[i].line + 1] = 0;
		break;
	}
	return hash_add(hash, table, (size_t)s->size);
}

static bool is_note(const struct elf *e, const struct section *s)
{
	return s->type == SHT_NOTE || str_starts(name_of(e, s), ".note");
}

static int add_section(const struct elf *e, const struct section *s, struct hash *hash)
{
	_cleanup_str_ struct str head = STR_INIT;
	int r;

	(void)str_addf(&head, "section %s type %x flags %" PRIx64 " addr %" PRIx64 " size %" PRIx64 "\n",
		       name_of(e, s), s->type, s->flags, s->addr, s->size);
	r = add_text(hash, &head);
	if (r < 0 || s->type == SHT_NOBITS)
		return r;
	return str_eq(name_of(e, s), "__bug_table") ? add_bug_table(e, s, hash) : add_content(e, s, hash);
}

static int add_sections(const struct elf *e, struct hash *hash, struct error *err)
{
	size_t n = 0;

	for (size_t i = 0; i < e->shnum; i++) {
		const struct section *s = &e->sections[i];
		int r;

		if (!(s->flags & SHF_ALLOC) || s->type == SHT_NULL || is_note(e, s))
			continue;
		r = add_section(e, s, hash);
		if (r < 0) {
			_cleanup_free_ char *name = str_sanitize_line(name_of(e, s), strlen(name_of(e, s)));

			return error_errno(err, r, "section %zu (%s)", i, name ? name : "?");
		}
		n++;
	}
	return n ? 0 : error_set(err, -EBADMSG, "nothing in it is loaded");
}

int signature_of_elf(int fd, struct error *err, char ret[HASH_HEX_LEN + 1])
{
	_cleanup_(elf_done) struct elf e = { .fd = fd };
	_cleanup_(hash_freep) struct hash *hash = NULL;
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return error_errno(err, -errno, "fstat");
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EBADMSG, "not a regular file");
	e.size = (uint64_t)st.st_size;
	r = read_header(&e, err);
	if (r >= 0)
		r = read_sections(&e, err);
	if (r < 0)
		return r;
	r = hash_new(&hash);
	if (r >= 0)
		r = add_segments(&e, hash);
	if (r < 0)
		return error_errno(err, r, "the segments");
	r = add_sections(&e, hash, err);
	if (r < 0)
		return r;
	r = hash_hex(hash, ret);
	return r < 0 ? error_errno(err, r, "hash") : 0;
}
