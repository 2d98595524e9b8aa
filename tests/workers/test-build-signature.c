// SPDX-License-Identifier: GPL-2.0-or-later
/* The signature of an image: what it covers, what it leaves out, and that no file of strangers breaks the parser. */
#include "workers/build-signature.h"

#include "lib/str.h"
#include "tap.h"

#include <elf.h>
#include <sys/mman.h>

enum { TEXT, BUGS, NOTES, BSS, COMMENT, NAMES, N_SECTIONS };

/* A little vmlinux: 64 bytes of code, two bug records, a note, .bss, a comment that is not loaded. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr load;
	Elf64_Shdr sections[1 + N_SECTIONS];
	unsigned char text[64];
	struct {
		int32_t addr, file;
		uint16_t line, flags;
	} bugs[2];
	char notes[32], comment[16], names[64];
};

static uint32_t add_name(struct image *i, size_t *at, const char *name)
{
	uint32_t offset = (uint32_t)*at;

	memcpy(i->names + *at, name, strlen(name) + 1);
	*at += strlen(name) + 1;
	return offset;
}

static void add_section(struct image *i, int number, uint32_t name, uint32_t type, uint64_t flags, uint64_t addr,
			const void *content, size_t size)
{
	i->sections[1 + number] = (Elf64_Shdr){ .sh_name = name, .sh_type = type, .sh_flags = flags, .sh_addr = addr,
						.sh_offset = (uint64_t)((const char *)content - (const char *)i),
						.sh_size = size };
}

static struct image make_image(void)
{
	struct image i = { 0 };

	memcpy(i.header.e_ident, ELFMAG, SELFMAG);
	i.header.e_ident[EI_CLASS] = ELFCLASS64;
	i.header.e_ident[EI_DATA] = ELFDATA2LSB;
	i.header.e_type = ET_EXEC;
	i.header.e_machine = EM_X86_64;
	i.header.e_entry = 0x1000;
	i.header.e_phoff = offsetof(struct image, load);
	i.header.e_phentsize = sizeof(Elf64_Phdr);
	i.header.e_phnum = 1;
	i.header.e_shoff = offsetof(struct image, sections);
	i.header.e_shentsize = sizeof(Elf64_Shdr);
	i.header.e_shnum = 1 + N_SECTIONS;
	i.header.e_shstrndx = 1 + NAMES;
	i.load = (Elf64_Phdr){ .p_type = PT_LOAD, .p_vaddr = 0x1000, .p_paddr = 0x1000, .p_memsz = 0x3000, .p_flags = PF_R };
	for (size_t n = 0; n < sizeof(i.text); n++)
		i.text[n] = (unsigned char)n;
	for (int n = 0; n < 2; n++) {
		i.bugs[n].addr = 0x1000 - 0x2000 - 12 * n + 4 * n;
		i.bugs[n].file = 77;
		i.bugs[n].line = (uint16_t)(100 + n);
		i.bugs[n].flags = 9;
	}
	memset(i.notes, 'n', sizeof(i.notes));
	memset(i.comment, 'c', sizeof(i.comment));
	return i;
}

/* Offsets are of the variable itself, so it is done where the image lies. */
static void finish(struct image *i)
{
	size_t at = 1;

	add_section(i, TEXT, add_name(i, &at, ".text"), SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, i->text, sizeof(i->text));
	add_section(i, BUGS, add_name(i, &at, "__bug_table"), SHT_PROGBITS, SHF_ALLOC, 0x2000, i->bugs, sizeof(i->bugs));
	add_section(i, NOTES, add_name(i, &at, ".notes"), SHT_NOTE, SHF_ALLOC, 0x2100, i->notes, sizeof(i->notes));
	add_section(i, BSS, add_name(i, &at, ".bss"), SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 0x3000, i->notes, 1 << 20);
	add_section(i, COMMENT, add_name(i, &at, ".comment"), SHT_PROGBITS, 0, 0, i->comment, sizeof(i->comment));
	add_section(i, NAMES, add_name(i, &at, ".shstrtab"), SHT_STRTAB, 0, 0, i->names, sizeof(i->names));
}

static char hex[64][HASH_HEX_LEN + 1];
static int turn;

static int sign_bytes(const void *data, size_t len, char ret[HASH_HEX_LEN + 1])
{
	_cleanup_close_ int fd = memfd_create("image", MFD_CLOEXEC);
	_cleanup_error_ struct error err = ERROR_INIT;

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		return -errno;
	return signature_of_elf(fd, &err, ret);
}

/* One of many buffers; "" when it has none. */
static const char *sign(const struct image *i)
{
	char *to = hex[turn++ % 64];

	to[0] = '\0';
	return sign_bytes(i, sizeof(*i), to) < 0 ? "" : to;
}

static void test_covers(void)
{
	struct image base = make_image(), i;
	const char *first;

	finish(&base);
	first = sign(&base);
	is_int(strlen(first), HASH_HEX_LEN, "an image has a signature");

	i = base;
	i.text[5]++;
	ok(!str_eq(first, sign(&i)), "code counts");
	i = base;
	i.header.e_entry++;
	ok(!str_eq(first, sign(&i)), "the entry counts");
	i = base;
	i.load.p_paddr++;
	ok(!str_eq(first, sign(&i)), "where it is loaded counts");
	i = base;
	i.sections[1 + TEXT].sh_addr++;
	ok(!str_eq(first, sign(&i)), "an address counts");
	i = base;
	i.sections[1 + BSS].sh_size++;
	ok(!str_eq(first, sign(&i)), "the size of .bss counts");
	i = base;
	i.bugs[1].flags++;
	ok(!str_eq(first, sign(&i)), "flags of a bug record count");
	i = base;
	i.bugs[1].addr += 4;
	ok(!str_eq(first, sign(&i)), "addresses of a bug record count");
}

static void test_leaves_out(void)
{
	struct image base = make_image(), i;
	const char *first;

	finish(&base);
	first = sign(&base);
	i = base;
	i.notes[3]++;
	is_str(sign(&i), first, "notes (build ids) do not count");
	i = base;
	i.comment[3]++;
	is_str(sign(&i), first, "what is not loaded does not count");
	i = base;
	i.bugs[0].line += 20;
	i.bugs[1].line += 20;
	is_str(sign(&i), first, "line numbers of bug records do not count");
	i = base;
	i.bugs[0].addr = i.bugs[1].addr = 0x40000000;
	first = sign(&i);
	i.bugs[1].line++;
	ok(!str_eq(first, sign(&i)), "of a table of an unknown layout every byte counts");
}

static void test_truncated(void)
{
	struct image base = make_image();
	size_t accepted = 0;
	char ret[HASH_HEX_LEN + 1];

	finish(&base);
	for (size_t len = 0; len < sizeof(base); len++)
		accepted += sign_bytes(&base, len, ret) >= 0;
	is_int(accepted, 0, "no shorter file is taken");
}

/* Every byte of the tables in turn is set to extremes: an error or a signature, never a wild read (run under ASan). */
static void test_corrupt(void)
{
	static const unsigned char values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	struct image base = make_image();
	char ret[HASH_HEX_LEN + 1];
	size_t n = 0;

	finish(&base);
	for (size_t at = 0; at < offsetof(struct image, text); at++)
		for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
			struct image i = base;

			((unsigned char *)&i)[at] = values[v];
			(void)sign_bytes(&i, sizeof(i), ret);
			n++;
		}
	ok(n > 2000, "%zu corrupt files are survived", n);
}

static void test_wild(void)
{
	struct image base = make_image(), i;

	finish(&base);
	i = base;
	i.sections[1 + TEXT].sh_size = UINT64_MAX;
	is_str(sign(&i), "", "a size beyond the file is refused");
	i = base;
	i.sections[1 + TEXT].sh_offset = UINT64_MAX - 8;
	is_str(sign(&i), "", "an offset that wraps is refused");
	i = base;
	i.sections[1 + NAMES].sh_size = UINT64_C(1) << 40;
	is_str(sign(&i), "", "names of any size are refused");
	i = base;
	i.header.e_shoff = UINT64_MAX - 16;
	is_str(sign(&i), "", "a section table out of the file is refused");
	i = base;
	i.header.e_shnum = 0;
	is_str(sign(&i), "", "no sections are refused");
	i = base;
	i.header.e_ident[EI_DATA] = ELFDATA2MSB;
	is_str(sign(&i), "", "big endian is refused");
	i = base;
	i.sections[1 + TEXT].sh_name = UINT32_MAX;
	is_int(strlen(sign(&i)), HASH_HEX_LEN, "a name out of the table is no name");
	for (int n = 0; n < N_SECTIONS; n++)
		i.sections[1 + n].sh_flags = 0;
	is_str(sign(&i), "", "a file that loads nothing is refused");
}

int main(void)
{
	test_covers();
	test_leaves_out();
	test_truncated();
	test_corrupt();
	test_wild();
	return done_testing();
}
