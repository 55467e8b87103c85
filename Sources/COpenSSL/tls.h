// TLS in memory: OpenSSL reads and writes the bytes of a `tls_wire`, which an event loop fills and empties. The other
// functions set up OpenSSL's objects, or replace macros that Swift cannot import.
#ifndef AFTERLINK_COPENSSL_TLS_H
#define AFTERLINK_COPENSSL_TLS_H

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Encrypted bytes. The wire borrows the input for one call. It owns the memory of the output, which grows.
typedef struct {
    const unsigned char *input;
    size_t input_count;
    unsigned char *output;
    size_t output_count;
    size_t output_capacity;
} tls_wire;

static inline void tls_wire_free(tls_wire *wire) {
    free(wire->output);
    free(wire);
}

static inline int tls_wire_read(BIO *bio, char *into, int count) {
    tls_wire *wire = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (wire == NULL || into == NULL || count <= 0) return 0;
    if (wire->input_count == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    size_t taken = wire->input_count < (size_t)count ? wire->input_count : (size_t)count;
    memcpy(into, wire->input, taken);
    wire->input += taken;
    wire->input_count -= taken;
    return (int)taken;
}

static inline int tls_wire_write(BIO *bio, const char *from, int count) {
    tls_wire *wire = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (wire == NULL || from == NULL || count <= 0) return 0;
    size_t needed = wire->output_count + (size_t)count;
    if (needed > wire->output_capacity) {
        size_t capacity = wire->output_capacity < 16384 ? 16384 : wire->output_capacity;
        while (capacity < needed) capacity *= 2;
        unsigned char *larger = realloc(wire->output, capacity);
        if (larger == NULL) return -1;
        wire->output = larger;
        wire->output_capacity = capacity;
    }
    memcpy(wire->output + wire->output_count, from, (size_t)count);
    wire->output_count = needed;
    return count;
}

static inline long tls_wire_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static inline BIO_METHOD *tls_wire_method(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "event loop");
    if (method == NULL) return NULL;
    BIO_meth_set_read(method, tls_wire_read);
    BIO_meth_set_write(method, tls_wire_write);
    BIO_meth_set_ctrl(method, tls_wire_control);
    return method;
}

// Creates the server's end of a connection, or the client's if `accepts` is 0. It reads and writes its bytes through
// the wire. Returns NULL if memory has run out.
static inline SSL *tls_over_wire(SSL_CTX *context, const BIO_METHOD *method, tls_wire *wire, int accepts) {
    SSL *connection = SSL_new(context);
    BIO *bio = BIO_new(method);
    if (connection == NULL || bio == NULL) {
        SSL_free(connection);
        BIO_free(bio);
        return NULL;
    }
    BIO_set_data(bio, wire);
    BIO_set_init(bio, 1);
    SSL_set_bio(connection, bio, bio);
    if (accepts)
        SSL_set_accept_state(connection);
    else
        SSL_set_connect_state(connection);
    return connection;
}

// Makes a client's handshake fail unless the server has a certificate for this name or address. An authority of the
// file `roots` must have issued the certificate; if `roots` is NULL, an authority that the system trusts. Returns 0 if
// OpenSSL refuses a part of these settings.
static inline int tls_verify_peer(SSL_CTX *context, SSL *connection, const char *host, const char *roots) {
    static const unsigned char http11[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    SSL_set_verify(connection, SSL_VERIFY_PEER, NULL);
    SSL_set_options(connection, SSL_OP_NO_RENEGOTIATION);
    if (SSL_set_min_proto_version(connection, TLS1_2_VERSION) != 1) return 0;
    if (SSL_set_alpn_protos(connection, http11, sizeof http11) != 0) return 0;
    if (roots == NULL ? SSL_CTX_set_default_verify_paths(context) != 1
                      : SSL_CTX_load_verify_locations(context, roots, NULL) != 1)
        return 0;
    // Certificates have addresses in a separate field, and a client does not send an address in the handshake.
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), host) == 1) return 1;
    ERR_clear_error();
    SSL_set_hostflags(connection, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(connection, host) == 1 && SSL_set_tlsext_host_name(connection, host) == 1;
}

// OpenSSL's reason for refusing the peer's certificate; NULL if OpenSSL did not refuse it.
static inline const char *tls_verification_error(const SSL *connection) {
    long result = SSL_get_verify_result(connection);
    return result == X509_V_OK ? NULL : X509_verify_cert_error_string(result);
}

// Selects http/1.1; a client that offers only other protocols gets an alert (RFC 7301 §3.2).
static inline int tls_select_protocol(
    SSL *connection, const unsigned char **chosen, unsigned char *length, const unsigned char *offered,
    unsigned int offered_length, void *argument) {
    (void)connection;
    (void)argument;
    static const unsigned char http11[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    unsigned char *found = NULL;
    int result = SSL_select_next_proto(&found, length, http11, sizeof http11, offered, offered_length);
    if (result != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

// Applies the settings of every server. Returns 0 if OpenSSL refuses one of them.
static inline int tls_configure_server(SSL_CTX *context, long session_seconds) {
    SSL_CTX_set_options(
        context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                     SSL_OP_PRIORITIZE_CHACHA);
    // OpenSSL frees the buffers of an idle connection, and a write may send one record of several.
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE);
    SSL_CTX_set_read_ahead(context, 1);
    // Clients store sessions in tickets; the server stores none.
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_timeout(context, session_seconds);
    SSL_CTX_set_alpn_select_cb(context, tls_select_protocol, NULL);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_cipher_list(
               context,
               "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
               "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
               "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305") == 1 &&
           SSL_CTX_set_ciphersuites(
               context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256") == 1 &&
           SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") == 1 &&
           SSL_CTX_set_max_early_data(context, 0) == 1;
}

static inline int tls_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add0_chain_cert(context, certificate);
}

// Whether OpenSSL found no further PEM text, which is the end of a PEM file.
static inline int tls_error_is_end_of_pem(unsigned long error) {
    return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

// Sets up AES-256-CBC and HMAC-SHA-256 for a session ticket (RFC 5077 §4).
static inline int tls_ticket_ciphers(
    EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, const unsigned char *cipher_key, const unsigned char *mac_key,
    const unsigned char *vector, int encrypts) {
    char digest[] = "SHA256";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)(uintptr_t)mac_key, 32),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, cipher_key, vector, encrypts) == 1 &&
           EVP_MAC_CTX_set_params(mac, parameters) == 1;
}

// Returns a time in seconds since 1970; INT64_MIN if it is invalid.
static inline int64_t tls_seconds(const ASN1_TIME *time) {
    int days = 0, seconds = 0;
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    int known = epoch != NULL && time != NULL && ASN1_TIME_diff(&days, &seconds, epoch, time) == 1;
    ASN1_TIME_free(epoch);
    return known ? (int64_t)days * 86400 + seconds : INT64_MIN;
}

#endif
