// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Verifies SM2 signatures one by one with OpenSSL's libcrypto, and prints how many
// were valid and the processor time in nanoseconds. Keys are parsed before the clock starts.
//
// Standard input has for each signature the key (SubjectPublicKeyInfo), the
// signature (DER) and the message, each after its length in two bytes.

#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned char *field(size_t *len) {
	int hi = getchar(), lo = getchar();
	if (hi == EOF || lo == EOF)
		return NULL;
	*len = (size_t)hi << 8 | (size_t)lo;
	unsigned char *p = malloc(*len + 1);
	if (p == NULL || fread(p, 1, *len, stdin) != *len)
		exit(2);
	return p;
}

struct item {
	EVP_PKEY *key;
	unsigned char *sig, *msg;
	size_t sigLen, msgLen;
};

static int verify(const struct item *it) {
	static const char id[] = "1234567812345678";
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	EVP_PKEY_CTX *pctx = NULL;
	int ok = ctx != NULL && EVP_DigestVerifyInit(ctx, &pctx, EVP_sm3(), NULL, it->key) == 1 &&
	         EVP_PKEY_CTX_set1_id(pctx, id, sizeof id - 1) == 1 &&
	         EVP_DigestVerify(ctx, it->sig, it->sigLen, it->msg, it->msgLen) == 1;
	EVP_MD_CTX_free(ctx);
	return ok;
}

int main(void) {
	struct item *items = NULL;
	size_t n = 0, len;
	for (unsigned char *key; (key = field(&len)) != NULL; n++) {
		items = realloc(items, (n + 1) * sizeof *items);
		if (items == NULL)
			return 2;
		const unsigned char *p = key;
		items[n].key = d2i_PUBKEY(NULL, &p, (long)len);
		items[n].sig = field(&items[n].sigLen);
		items[n].msg = field(&items[n].msgLen);
		if (items[n].key == NULL || items[n].sig == NULL || items[n].msg == NULL)
			return 2;
	}
	struct timespec a, b;
	size_t valid = 0;
	if (n > 0)
		verify(&items[0]); // what is done once only
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (size_t i = 0; i < n; i++)
		valid += verify(&items[i]);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	printf("%zu %lld\n", valid, (long long)(b.tv_sec - a.tv_sec) * 1000000000LL + (b.tv_nsec - a.tv_nsec));
	return 0;
}
