// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/hash.h"

#include <openssl/evp.h>

struct hash {
	EVP_MD_CTX *ctx;
};

int hash_new(struct hash **ret)
{
	_cleanup_(hash_freep) struct hash *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->ctx = EVP_MD_CTX_new();
	if (!h->ctx || EVP_DigestInit_ex(h->ctx, EVP_sha256(), NULL) != 1)
		return -ENOMEM;
	*ret = TAKE_PTR(h);
	return 0;
}

struct hash *hash_free(struct hash *h)
{
	if (h)
		EVP_MD_CTX_free(h->ctx);
	free(h);
	return NULL;
}

int hash_add(struct hash *h, const void *data, size_t len)
{
	return EVP_DigestUpdate(h->ctx, data, len) == 1 ? 0 : -EIO;
}

int hash_hex(struct hash *h, char ret[HASH_HEX_LEN + 1])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int len;

	if (EVP_DigestFinal_ex(h->ctx, digest, &len) != 1 || len != HASH_HEX_LEN / 2)
		return -EIO;
	for (unsigned int i = 0; i < len; i++)
		(void)snprintf(ret + 2 * i, 3, "%02x", digest[i]);
	return 0;
}

int hash_mem(const void *data, size_t len, char ret[HASH_HEX_LEN + 1])
{
	_cleanup_(hash_freep) struct hash *h = NULL;
	int r = hash_new(&h);

	if (r < 0)
		return r;
	r = hash_add(h, data, len);
	if (r < 0)
		return r;
	return hash_hex(h, ret);
}
