// Distinguishes the database's files by their names.
#include <stdint.h>
#include <string.h>

// Fault.swift contains the same numbers.
enum { FILE_DATABASE = 1, FILE_LOG = 2, FILE_INDEX = 4, FILE_JOURNAL = 8, FILE_KEY = 16, FILE_COPY = 32, FOLDER = 64 };

static int ends(const char *name, const char *end) {
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

static uint32_t kind_of_name(const char *name) {
    if (!strstr(name, ".db")) return 0;
    if (strstr(name, ".db.key")) return FILE_KEY;
    if (ends(name, ".db-wal")) return FILE_LOG;
    if (ends(name, ".db-shm")) return FILE_INDEX;
    if (ends(name, "-journal")) return FILE_JOURNAL;
    return ends(name, ".db") ? FILE_DATABASE : FILE_COPY;
}
