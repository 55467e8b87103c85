// SQLite as the system has it, and inline functions for what Swift cannot import.
#ifndef AFTERLINK_CSQLITE_H
#define AFTERLINK_CSQLITE_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

// Macros that Swift cannot read: SQLITE_CONSTRAINT with a detail.
static const int32_t afterlink_constraint_primary_key = SQLITE_CONSTRAINT_PRIMARYKEY;
static const int32_t afterlink_constraint_rowid = SQLITE_CONSTRAINT_ROWID;
static const int32_t afterlink_constraint_unique = SQLITE_CONSTRAINT_UNIQUE;

// SQLITE_TRANSIENT is a cast macro: SQLite copies the bytes before the call returns.
static inline int afterlink_bind_text(sqlite3_stmt *statement, int index, const char *text, size_t length) {
    return sqlite3_bind_text64(statement, index, text, length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int afterlink_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, size_t length) {
    return sqlite3_bind_blob64(statement, index, bytes, length, SQLITE_TRANSIENT);
}

// sqlite3_config is variadic. SQLite counts its memory under one lock for all threads, and nobody asks for the sum.
// To be called before SQLite is first used; afterwards it changes nothing.
static inline void afterlink_stop_counting_memory(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

// sqlite3_db_config is variadic. Off: the last connection to close leaves the database file as it is.
static inline int afterlink_set_checkpoint_on_close(sqlite3 *connection, int isOn) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !isOn, NULL);
}

// Sets what protects against a database made by an enemy: SQL functions and shadow tables of foreign schemas.
static inline int afterlink_set_defensive(sqlite3 *connection) {
    int status = sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (status != SQLITE_OK) return status;
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
}

// Keeps a statement's plan whatever is bound to it. SQLite else looks at the values to see whether a partial index
// holds all that they ask for, and compiles the statement anew each time that one of them is bound
// (sqlite.org/c3ref/c_dbconfig_defensive.html, SQLITE_DBCONFIG_ENABLE_QPSG).
static inline int afterlink_keep_plans(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_QPSG, 1, NULL);
}

// Keeps the number of pages in the write-ahead log after each commit, instead of checkpointing in the commit.
static inline int afterlink_note_wal_pages(void *count, sqlite3 *connection, const char *schema, int pages) {
    (void)connection;
    (void)schema;
    *(int32_t *)count = pages;
    return SQLITE_OK;
}

static inline void afterlink_watch_wal(sqlite3 *connection, int32_t *count) {
    sqlite3_wal_hook(connection, afterlink_note_wal_pages, count);
}

// Lets the next checkpoint copy all of the write-ahead log, not what was added since the last one.
//
// SQLite syncs the database only when a checkpoint has reached the log's end, but counts what it has copied before.
// When that sync fails, pages of earlier checkpoints are lost with those of the last one, and would not be copied
// again before the log begins anew. Their count stands in the log's index (sqlite.org/walformat.html, 2.1 and 2.3:
// nBackfill, and the lock under which it is changed). It is reached through SQLite's own file: opening and closing
// the index beside it would give up the locks of all its connections.
static inline int afterlink_copy_log_anew(sqlite3 *connection) {
    enum { BACKFILL_OFFSET = 96, CHECKPOINT_LOCK = 1, INDEX_PART_SIZE = 32768 };
    sqlite3_file *file = NULL;
    int status = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (status != SQLITE_OK) return status;
    if (!file || !file->pMethods || file->pMethods->iVersion < 2) return SQLITE_ERROR;
    void volatile *index = NULL;
    status = file->pMethods->xShmMap(file, 0, INDEX_PART_SIZE, 0, &index);
    if (status != SQLITE_OK || !index) return status;
    // Whoever has the lock now copies for a second at most; its own sync tells it of the failure as well.
    for (int attempt = 0; attempt < 100; attempt++) {
        status = file->pMethods->xShmLock(file, CHECKPOINT_LOCK, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
        if (status != SQLITE_BUSY) break;
        sqlite3_sleep(10);
    }
    if (status != SQLITE_OK) return status;
    __atomic_store_n((uint32_t volatile *)((char volatile *)index + BACKFILL_OFFSET), 0, __ATOMIC_SEQ_CST);
    return file->pMethods->xShmLock(file, CHECKPOINT_LOCK, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
}

#endif
