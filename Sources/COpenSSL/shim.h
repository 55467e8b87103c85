// OpenSSL as the system has it, and inline functions for what Swift cannot import.
#ifndef AFTERLINK_COPENSSL_H
#define AFTERLINK_COPENSSL_H

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

#endif
