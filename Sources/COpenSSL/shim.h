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

// AES-256-GCM with a key of 32 bytes and a nonce of 12: encrypts and writes 16 bytes of tag, or decrypts and compares
// the tag. The output has as many bytes as the input. Returns 0 if the tag differs, or if OpenSSL fails; the output
// must not be used then.
static inline int afterlink_aes256_gcm(
    int encrypts, const unsigned char *key, const unsigned char *nonce, const unsigned char *data, size_t data_count,
    const unsigned char *input, size_t count, unsigned char *output, unsigned char *tag) {
    if (data_count > INT_MAX || count > INT_MAX) return 0;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (context == NULL) return 0;
    int written = 0;
    unsigned char none[EVP_MAX_BLOCK_LENGTH];
    int done =
        EVP_CipherInit_ex(context, EVP_aes_256_gcm(), NULL, key, nonce, encrypts) == 1 &&
        (data_count == 0 || EVP_CipherUpdate(context, NULL, &written, data, (int)data_count) == 1) &&
        (count == 0 || EVP_CipherUpdate(context, output, &written, input, (int)count) == 1) &&
        (encrypts || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, 16, tag) == 1) &&
        EVP_CipherFinal_ex(context, none, &written) == 1 &&
        (!encrypts || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, 16, tag) == 1);
    EVP_CIPHER_CTX_free(context);
    if (!done) ERR_clear_error();
    return done;
}

// Whether a DER-encoded ECDSA signature of the message's SHA-256 verifies under a P-256 key (DER SubjectPublicKeyInfo).
static inline int afterlink_ecdsa_p256_verifies(
    const unsigned char *key, size_t key_count, const unsigned char *message, size_t count,
    const unsigned char *signature, size_t signature_count) {
    if (key_count > LONG_MAX) return 0;
    const unsigned char *next = key;
    EVP_PKEY *public_key = d2i_PUBKEY(NULL, &next, (long)key_count);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    char curve[32] = "";
    int verifies =
        public_key != NULL && context != NULL && next == key + key_count &&
        EVP_PKEY_get_group_name(public_key, curve, sizeof curve, NULL) == 1 && strcmp(curve, SN_X9_62_prime256v1) == 0 &&
        EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, public_key) == 1 &&
        EVP_DigestVerify(context, signature, signature_count, message, count) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(public_key);
    if (!verifies) ERR_clear_error();
    return verifies;
}

#endif
