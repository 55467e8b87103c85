// A library that tests preload into the server under test. It simulates a disk that fails, tears and delays calls on
// command, and a wall clock that tests can set. Its journal records all writes and syncs, so that a test can rebuild
// the state of the disk after a power cut.
//
// The faults affect one folder, and the files in it whose names contain ".db". The settings are:
//   AFTERLINK_FAULTS          the file of the control page, see `struct control`; the test writes its rules there
//   AFTERLINK_FAULTS_FOLDER   the path of the folder, without symbolic links
//   AFTERLINK_FAULTS_JOURNAL  the file in which all changes of the files are recorded in order; none when not set
//   AFTERLINK_FAULTS_CLUSTER  set if the folder is the data folder of a PostgreSQL server: then the faults affect calls
//                             with a descriptor of a table (the kind of the database) or of the write-ahead log
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "failures.h"
#include "kinds.h"

// Fault.swift contains the same numbers.
enum { CALL_WRITE = 1, CALL_SYNC = 2, CALL_TRUNCATE = 4, CALL_OPEN = 8, CALL_UNLINK = 16, CALL_READ = 32 };
// Fail: the call does nothing and fails with the error number `value`. Tear: it writes half, then fails with `value`.
// Shorten: the call writes half and returns that count. Wait: the call waits `value` milliseconds, or until the rule is
// withdrawn. Kill: the process ends before the call.
enum { EFFECT_FAIL = 1, EFFECT_TEAR = 2, EFFECT_SHORTEN = 3, EFFECT_WAIT = 4, EFFECT_KILL = 5 };

#define RULES 16

struct rule {
    _Atomic uint32_t is_active;
    uint32_t calls, files, effect;
    int32_t value;
    uint32_t skipped;      // calls that pass before the rule takes effect
    uint32_t times;        // calls on which the rule takes effect; 0: all later calls
    _Atomic uint32_t seen; // matching calls so far
};

struct control {
    _Atomic int64_t clock_offset; // milliseconds
    uint64_t reserved[7];
    struct rule rules[RULES];
};

static struct control *control;
static char folder[PATH_MAX];
static int is_cluster;
static int journal = -1;
static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;

#define NEXT(name) static __typeof__(&name) next; if (!next) next = dlsym(RTLD_NEXT, #name)

static ssize_t write_unwatched(int file, const void *bytes, size_t count) {
    NEXT(write);
    return next(file, bytes, count);
}

static int open_unwatched(const char *path, int flags) {
    NEXT(open);
    return next(path, flags | O_CLOEXEC, 0600);
}

__attribute__((constructor)) static void prepare(void) {
    const char *name = getenv("AFTERLINK_FAULTS_FOLDER");
    if (name) snprintf(folder, sizeof folder, "%s", name);
    is_cluster = getenv("AFTERLINK_FAULTS_CLUSTER") != 0;
    name = getenv("AFTERLINK_FAULTS_JOURNAL");
    if (name) journal = open_unwatched(name, O_WRONLY | O_CREAT | O_APPEND);
    name = getenv("AFTERLINK_FAULTS");
    int file = name ? open_unwatched(name, O_RDWR) : -1;
    if (file < 0) return;
    void *page = mmap(0, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) control = page;
    close(file);
}

// MARK: Recognising files

// Returns the file's name within the folder, or 0; `path` is absolute and without symbolic links.
static const char *name_in_folder(const char *path) {
    size_t length = strlen(folder);
    if (length == 0 || strncmp(path, folder, length) != 0 || path[length] != '/') return 0;
    return strchr(path + length + 1, '/') ? 0 : path + length + 1;
}

static uint32_t kind_in_cluster(const char *path) {
    size_t length = strlen(folder);
    if (strncmp(path, folder, length) != 0) return 0;
    if (strncmp(path + length, "/base/", 6) == 0) return FILE_DATABASE;
    return strncmp(path + length, "/pg_wal/", 8) == 0 ? FILE_LOG : 0;
}

static uint32_t kind_of_file(int file) {
    if (!*folder) return 0;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0 || path[0] != '/') return 0;
    path[length] = 0;
    if (is_cluster) return kind_in_cluster(path);
    if (strcmp(path, folder) == 0) return FOLDER;
    char *deleted = strstr(path, " (deleted)");
    if (deleted) *deleted = 0;
    const char *name = name_in_folder(path);
    return name ? kind_of_name(name) : 0;
}

// Returns the kind of the file at `path`, and stores its name within the folder in `name`.
static uint32_t kind_of_path(const char *path, char name[NAME_MAX + 1]) {
    if (!*folder || is_cluster) return 0;
    const char *slash = strrchr(path, '/');
    char parent[PATH_MAX], resolved[PATH_MAX];
    snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    if (!realpath(*parent ? parent : "/", resolved) || strcmp(resolved, folder) != 0) return 0;
    snprintf(name, NAME_MAX + 1, "%s", slash ? slash + 1 : path);
    return kind_of_name(name);
}

static uint64_t number_of_file(int file) {
    struct stat status;
    return fstat(file, &status) == 0 ? status.st_ino : 0;
}

static uint64_t number_of_path(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 ? status.st_ino : 0;
}

// MARK: Faults

static int64_t now_in_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void wait_under(struct rule *rule) {
    int64_t end = now_in_milliseconds() + rule->value;
    for (int64_t left; atomic_load(&rule->is_active) && (left = end - now_in_milliseconds()) > 0;) {
        struct timespec part = { 0, (left < 5 ? left : 5) * 1000000L };
        nanosleep(&part, 0);
    }
}

// Applies the rules to a call, and returns an error number or 0. Stores in `part` how many of the `count` bytes the
// call must write before it returns; 0 means all of them if there is no error, else none.
static int fault(uint32_t call, uint32_t kind, size_t count, size_t *part) {
    *part = 0;
    if (!control || !kind) return 0;
    int error = 0;
    for (int index = 0; index < RULES; index++) {
        struct rule *rule = &control->rules[index];
        if (!atomic_load(&rule->is_active) || !(rule->calls & call) || !(rule->files & kind)) continue;
        uint32_t seen = atomic_fetch_add(&rule->seen, 1);
        if (seen < rule->skipped || (rule->times && seen - rule->skipped >= rule->times)) continue;
        switch (rule->effect) {
        case EFFECT_FAIL: error = rule->value; break;
        case EFFECT_TEAR: error = rule->value; *part = count / 2; break;
        case EFFECT_SHORTEN: *part = count / 2; break;
        case EFFECT_KILL: kill(getpid(), SIGKILL); pause(); break;
        case EFFECT_WAIT: wait_under(rule); break;
        }
    }
    return error;
}

static int simple_fault(uint32_t call, uint32_t kind) {
    size_t part;
    return fault(call, kind, 0, &part);
}

// MARK: The journal

// The head of a journal record, which `length` bytes follow. DiskRecord.swift contains the same letters for `kind`.
struct record { uint64_t kind, file, position, length; };

static void note(char kind, uint64_t file, uint64_t position, const void *bytes, size_t length) {
    struct record head = { (uint64_t)kind, file, position, length };
    char *record = malloc(sizeof head + length);
    if (!record) abort();
    memcpy(record, &head, sizeof head);
    if (length) memcpy(record + sizeof head, bytes, length);
    size_t total = sizeof head + length;
    if (write_unwatched(journal, record, total) != (ssize_t)total) abort();
    free(record);
}

static int is_noted(uint32_t kind) { return journal >= 0 && kind; }
static void begin_note(int is_noted) { if (is_noted) pthread_mutex_lock(&journal_lock); }
static void end_note(int is_noted) { if (is_noted) pthread_mutex_unlock(&journal_lock); }

// MARK: Writing

typedef ssize_t (*writer)(int, const void *, size_t, off64_t);

static ssize_t write_here(int file, const void *bytes, size_t count, off64_t offset) {
    (void)offset;
    return write_unwatched(file, bytes, count);
}

static ssize_t write_there(int file, const void *bytes, size_t count, off64_t offset) {
    NEXT(pwrite64);
    return next(file, bytes, count, offset);
}

static ssize_t watched_write(writer next, int file, const void *bytes, size_t count, off64_t offset) {
    uint32_t kind = kind_of_file(file);
    if (!kind) return next(file, bytes, count, offset);
    size_t part;
    int error = fault(CALL_WRITE, kind, count, &part);
    if (error && !part) { errno = error; return -1; }
    int noted = is_noted(kind);
    begin_note(noted);
    ssize_t written = next(file, bytes, part ? part : count, offset);
    int failure = errno;
    if (noted && written > 0) {
        off64_t start = offset >= 0 ? offset : lseek64(file, 0, SEEK_CUR) - written;
        note('W', number_of_file(file), start, bytes, written);
    }
    end_note(noted);
    errno = error ? error : failure;
    return error ? -1 : written;
}

ssize_t write(int file, const void *bytes, size_t count) { return watched_write(write_here, file, bytes, count, -1); }
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    return watched_write(write_there, file, bytes, count, offset);
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    return watched_write(write_there, file, bytes, count, offset);
}

ssize_t pread64(int file, void *bytes, size_t count, off64_t offset) {
    NEXT(pread64);
    // Reads are frequent: to keep them fast, a rule for reads must be the first rule.
    int error = control && atomic_load(&control->rules[0].is_active) ? simple_fault(CALL_READ, kind_of_file(file)) : 0;
    if (error) { errno = error; return -1; }
    return next(file, bytes, count, offset);
}

int ftruncate64(int file, off64_t length) {
    NEXT(ftruncate64);
    uint32_t kind = kind_of_file(file);
    int error = simple_fault(CALL_TRUNCATE, kind);
    if (error) { errno = error; return -1; }
    int noted = is_noted(kind);
    begin_note(noted);
    int result = next(file, length);
    if (noted && result == 0) note('T', number_of_file(file), length, 0, 0);
    end_note(noted);
    return result;
}
int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

// MARK: Syncing

// Records a sync in the journal instead of syncing the machine's disk; the journal says which data counts as synced.
static int noted_sync(int file, uint32_t kind, uint64_t number) {
    static uint64_t last_sync;
    begin_note(1);
    uint64_t sync = ++last_sync;
    note('B', number, sync, 0, 0);
    end_note(1);
    int error = simple_fault(CALL_SYNC, kind);
    begin_note(1);
    int failed = fails(file, number, error != 0);
    note(error ? 'D' : 'E', number, sync, 0, 0);
    end_note(1);
    errno = error ? error : EIO;
    return failed ? -1 : 0;
}

static int watched_sync(int (*next)(int), int file) {
    uint32_t kind = kind_of_file(file);
    if (!kind) return next(file);
    uint64_t number = number_of_file(file);
    if (is_noted(kind)) return noted_sync(file, kind, number);
    int error = simple_fault(CALL_SYNC, kind);
    int result = error ? -1 : next(file);
    int failure = error ? error : errno;
    if (fails(file, number, error != 0) && result == 0) { result = -1; failure = EIO; }
    errno = failure;
    return result;
}

int fsync(int file) {
    NEXT(fsync);
    return watched_sync(next, file);
}
int fdatasync(int file) {
    NEXT(fdatasync);
    return watched_sync(next, file);
}

// MARK: Names

static int watched_open(int (*next)(const char *, int, ...), const char *path, int flags, mode_t mode) {
    char name[NAME_MAX + 1];
    uint32_t kind = kind_of_path(path, name);
    if (!kind) {
        int file = next(path, flags, mode);
        note_opened(file);
        return file;
    }
    // The real call refuses an existing file with O_EXCL before a fault could occur.
    int is_refused = (flags & O_EXCL) && access(path, F_OK) == 0;
    int is_faultless = is_refused || (flags & O_ACCMODE) == O_RDONLY;
    int error = is_faultless ? 0 : simple_fault(CALL_OPEN, kind);
    if (error) { errno = error; return -1; }
    int noted = is_noted(kind) && (flags & (O_CREAT | O_TRUNC));
    begin_note(noted);
    int was_there = access(path, F_OK) == 0;
    int file = next(path, flags, mode);
    int failure = errno;
    if (noted && file >= 0) {
        uint64_t number = number_of_file(file);
        if (!was_there) note('C', number, 0, name, strlen(name));
        else if (flags & O_TRUNC) note('T', number, 0, 0, 0);
    }
    end_note(noted);
    note_opened(file);
    errno = failure;
    return file;
}

static mode_t mode_argument(int flags, va_list arguments) {
    return flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
    NEXT(open);
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_argument(flags, arguments);
    va_end(arguments);
    return watched_open(next, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    NEXT(open64);
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_argument(flags, arguments);
    va_end(arguments);
    return watched_open(next, path, flags, mode);
}

// `how` is 'L' for a call that gives a file an additional name, and 'R' for a call that replaces the name.
static int named_anew(int (*next)(const char *, const char *), char how, const char *from, const char *to) {
    char old[NAME_MAX + 1], new[NAME_MAX + 1];
    uint32_t kind = kind_of_path(from, old);
    int noted = is_noted(kind) && kind_of_path(to, new);
    begin_note(noted);
    int result = next(from, to);
    if (noted && result == 0) {
        char names[2 * NAME_MAX + 2];
        int length = snprintf(names, sizeof names, "%s/%s", old, new);
        note(how, number_of_path(to), 0, names, length);
    }
    end_note(noted);
    return result;
}

int link(const char *from, const char *to) {
    NEXT(link);
    return named_anew(next, 'L', from, to);
}
int rename(const char *from, const char *to) {
    NEXT(rename);
    return named_anew(next, 'R', from, to);
}

int unlink(const char *path) {
    NEXT(unlink);
    char name[NAME_MAX + 1];
    uint32_t kind = kind_of_path(path, name);
    int error = simple_fault(CALL_UNLINK, kind);
    if (error) { errno = error; return -1; }
    int noted = is_noted(kind);
    begin_note(noted);
    int result = next(path);
    if (noted && result == 0) note('U', 0, 0, name, strlen(name));
    end_note(noted);
    return result;
}

// MARK: The wall clock

static int64_t clock_offset(void) { return control ? atomic_load(&control->clock_offset) : 0; }

int clock_gettime(clockid_t clock, struct timespec *moment) {
    NEXT(clock_gettime);
    int result = next(clock, moment);
    int64_t offset = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? clock_offset() : 0;
    if (result == 0 && offset) moment->tv_sec += offset / 1000;
    return result;
}

int gettimeofday(struct timeval *restrict moment, void *restrict zone) {
    NEXT(gettimeofday);
    int result = next(moment, zone);
    if (result == 0) moment->tv_sec += clock_offset() / 1000;
    return result;
}

time_t time(time_t *result) {
    struct timespec moment;
    clock_gettime(CLOCK_REALTIME, &moment);
    if (result) *result = moment.tv_sec;
    return moment.tv_sec;
}
