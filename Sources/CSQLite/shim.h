// The system's SQLite, and inline functions for its parts that Swift cannot import.
#ifndef AFTERLINK_CSQLITE_H
#define AFTERLINK_CSQLITE_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

// The extended codes of SQLITE_CONSTRAINT, whose macros Swift cannot import.
static const int32_t afterlink_constraint_primary_key = SQLITE_CONSTRAINT_PRIMARYKEY;
static const int32_t afterlink_constraint_rowid = SQLITE_CONSTRAINT_ROWID;
static const int32_t afterlink_constraint_unique = SQLITE_CONSTRAINT_UNIQUE;

// SQLITE_TRANSIENT makes SQLite copy the bytes before the call returns. Swift cannot import it, because it is a cast.
static inline int afterlink_bind_text(sqlite3_stmt *statement, int index, const char *text, size_t length) {
    return sqlite3_bind_text64(statement, index, text, length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int afterlink_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, size_t length) {
    return sqlite3_bind_blob64(statement, index, bytes, length, SQLITE_TRANSIENT);
}

// Makes SQLite not count the memory that it uses, because all threads would share one lock for the counts. The call has
// an effect only before the first use of SQLite. Swift cannot call the variadic sqlite3_config.
static inline void afterlink_stop_counting_memory(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

// Sets whether a connection makes a checkpoint when it closes as the last one of its database. Swift cannot call the
// variadic sqlite3_db_config.
static inline int afterlink_set_checkpoint_on_close(sqlite3 *connection, int isOn) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !isOn, NULL);
}

// Protects against a database that an attacker made: forbids unsafe functions in its schema, and forbids statements
// that could corrupt it, such as writes to shadow tables.
static inline int afterlink_set_defensive(sqlite3 *connection) {
    int status = sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (status != SQLITE_OK) return status;
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
}

// Makes a statement keep its plan for all bound values. Otherwise SQLite reads the values to decide whether a partial
// index contains all wanted rows, and compiles the statement again each time that such a value is bound
// (sqlite.org/c3ref/c_dbconfig_defensive.html, SQLITE_DBCONFIG_ENABLE_QPSG).
static inline int afterlink_keep_plans(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_QPSG, 1, NULL);
}

// Stores the number of pages in the write-ahead log after each commit, and makes no checkpoint in the commit.
static inline int afterlink_note_wal_pages(void *count, sqlite3 *connection, const char *schema, int pages) {
    (void)connection;
    (void)schema;
    *(int32_t *)count = pages;
    return SQLITE_OK;
}

static inline void afterlink_watch_wal(sqlite3 *connection, int32_t *count) {
    sqlite3_wal_hook(connection, afterlink_note_wal_pages, count);
}

// Makes the next checkpoint copy the whole write-ahead log, not only the pages since the last checkpoint.
//
// SQLite counts a page as copied when it has written the page, but syncs the database only when a checkpoint reaches
// the end of the log. If this sync fails, pages of earlier checkpoints may be lost as well. SQLite would not copy them
// again, because it counts them as copied. The log's index contains the count of copied pages
// (sqlite.org/walformat.html, 2.1 and 2.3: nBackfill, and the lock under which it changes). This function uses the
// file of SQLite's connection: closing another descriptor of the index would release all locks of this process.
static inline int afterlink_copy_log_again(sqlite3 *connection) {
    enum { BACKFILL_OFFSET = 96, CHECKPOINT_LOCK = 1, INDEX_PART_SIZE = 32768 };
    sqlite3_file *file = NULL;
    int status = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (status != SQLITE_OK) return status;
    if (!file || !file->pMethods || file->pMethods->iVersion < 2) return SQLITE_ERROR;
    void volatile *index = NULL;
    status = file->pMethods->xShmMap(file, 0, INDEX_PART_SIZE, 0, &index);
    if (status != SQLITE_OK || !index) return status;
    // Wait for another connection's checkpoint for at most a second. If its sync fails, it also reports the failure.
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
