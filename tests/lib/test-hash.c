// SPDX-License-Identifier: GPL-2.0-or-later
/* SHA-256 against published vectors (FIPS 180-2), in one piece and in many. */
#include "lib/hash.h"

#include "tap.h"

int main(void)
{
	char hex[HASH_HEX_LEN + 1];
	struct hash *h = NULL;
	int r;

	is_int(hash_mem("abc", 3, hex), 0, "hash");
	is_str(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "of abc");
	is_int(hash_mem("", 0, hex), 0, "hash of nothing");
	is_str(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "is the known one");
	r = hash_new(&h);
	for (int i = 0; i < 1000000 / 50 && r >= 0; i++)
		r = hash_add(h, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 50);
	is_int(r, 0, "a million bytes in pieces");
	is_int(hash_hex(h, hex), 0, "end");
	is_str(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", "of a million a");
	ok(!hash_free(h) && !hash_free(NULL), "free");
	is_int(hash_mem("a\0b", 3, hex), 0, "bytes with a NUL");
	ok(strcmp(hex, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afe48bb") != 0, "are not cut there");
	return done_testing();
}
