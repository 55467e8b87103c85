// The system's OpenSSL, and inline functions for its parts that Swift cannot import.
#ifndef AFTERLINK_COPENSSL_H
#define AFTERLINK_COPENSSL_H

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "tls.h"

// SHA-256 in the caller's memory. These functions are deprecated, because they do not use the providers of OpenSSL 3.
// But every 3.x library has them, they cannot fail, and they allocate no memory.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static inline void afterlink_sha256_start(SHA256_CTX *state) { SHA256_Init(state); }

static inline void afterlink_sha256_update(SHA256_CTX *state, const void *bytes, size_t count) {
    SHA256_Update(state, bytes, count);
}

// Writes 32 bytes.
static inline void afterlink_sha256_finish(SHA256_CTX *state, void *digest) { SHA256_Final(digest, state); }

#pragma GCC diagnostic pop

#endif
