/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_HASH_H
#define MMB_HASH_H

/* SHA-256 (OpenSSL's libcrypto) as lower-case hex. */
#include "lib/cleanup.h"

#define HASH_HEX_LEN 64

struct hash; /* running digest; one owner */
int hash_new(struct hash **ret);
struct hash *hash_free(struct hash *h);
DEFINE_CLEANUP(struct hash *, hash_free);
int hash_add(struct hash *h, const void *data, size_t len);
/* Ends the digest: 64 hex digits and a NUL. */
int hash_hex(struct hash *h, char ret[HASH_HEX_LEN + 1]);

/* Digest of one block. */
int hash_mem(const void *data, size_t len, char ret[HASH_HEX_LEN + 1]);

#endif
