// The system's libpq, and inline functions for its parts that Swift cannot import or that take arrays of pointers.
#ifndef AFTERLINK_CLIBPQ_H
#define AFTERLINK_CLIBPQ_H

#include <libpq-fe.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// The codes of an error's fields. Swift cannot import their macros, which are character constants.
static const int libpq_field_severity = PG_DIAG_SEVERITY_NONLOCALIZED;
static const int libpq_field_code = PG_DIAG_SQLSTATE;
static const int libpq_field_message = PG_DIAG_MESSAGE_PRIMARY;
static const int libpq_field_constraint = PG_DIAG_CONSTRAINT_NAME;

// The maximum numbers of parameters of a connection and of a statement.
enum { LIBPQ_MOST_WORDS = 32, LIBPQ_MOST_FIELDS = 512 };

// Starts a connection. `words` contains `count` pairs of a name and a value; each name and each value ends with a zero.
// Returns NULL if there are too many pairs or memory has run out.
static inline PGconn *libpq_start(const char *words, int count) {
    const char *names[LIBPQ_MOST_WORDS + 1] = {NULL};
    const char *values[LIBPQ_MOST_WORDS + 1] = {NULL};
    if (count > LIBPQ_MOST_WORDS) return NULL;
    for (int index = 0; index < count; index++) {
        names[index] = words;
        words += strlen(words) + 1;
        values[index] = words;
        words += strlen(words) + 1;
    }
    return PQconnectStartParams(names, values, 0);
}

// Sends a prepared statement whose parameters and results are binary. `fields` contains the parameters in the form of
// the protocol's message Bind: for each parameter a length in network order, which is -1 for NULL, and the bytes.
// Returns 0 if there are too many parameters or libpq fails, otherwise 1.
static inline int libpq_send(PGconn *connection, const char *name, const char *fields, int count) {
    const char *values[LIBPQ_MOST_FIELDS];
    int lengths[LIBPQ_MOST_FIELDS], formats[LIBPQ_MOST_FIELDS];
    if (count > LIBPQ_MOST_FIELDS) return 0;
    for (int index = 0; index < count; index++) {
        const unsigned char *head = (const unsigned char *)fields;
        uint32_t length = (uint32_t)head[0] << 24 | (uint32_t)head[1] << 16 | (uint32_t)head[2] << 8 | head[3];
        int is_null = length == UINT32_MAX;
        values[index] = is_null ? NULL : fields + 4;
        lengths[index] = is_null ? 0 : (int)length;
        formats[index] = 1;
        fields += is_null ? 4 : 4 + (size_t)length;
    }
    return PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1);
}

#endif
