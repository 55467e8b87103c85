// A library to be preloaded into the server under test: it makes writes and syncs of the database fail or wait
// on command. The command stands in the file that AFTERLINK_FAULTS names; its first byte is the mode, digits
// after it are milliseconds:
//   0 nothing   F writes fail, no space   W writes fail, I/O error   S syncs fail, I/O error   D syncs wait
// Only files whose name holds ".db" are touched.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static volatile const char *command;

__attribute__((constructor)) static void read_command(void) {
    const char *path = getenv("AFTERLINK_FAULTS");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *page = mmap(0, 64, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) command = page;
    close(file);
}

static int is_database(int file) {
    char link[64], name[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, name, sizeof name - 1);
    if (length < 0) return 0;
    name[length] = 0;
    return strstr(name, ".db") != 0;
}

static char mode(int file) {
    char now = command ? command[0] : '0';
    return now != '0' && is_database(file) ? now : '0';
}

static int write_error(int file) {
    switch (mode(file)) {
    case 'F': return ENOSPC;
    case 'W': return EIO;
    default: return 0;
    }
}

#define NEXT(name) static __typeof__(&name) next; if (!next) next = dlsym(RTLD_NEXT, #name)

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    NEXT(pwrite64);
    int error = write_error(file);
    if (error) { errno = error; return -1; }
    return next(file, bytes, count, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    NEXT(pwrite);
    int error = write_error(file);
    if (error) { errno = error; return -1; }
    return next(file, bytes, count, offset);
}

ssize_t write(int file, const void *bytes, size_t count) {
    NEXT(write);
    int error = write_error(file);
    if (error) { errno = error; return -1; }
    return next(file, bytes, count);
}

static int sync_error(int file) {
    char now = mode(file);
    if (now == 'D') {
        char digits[16];
        for (int i = 0; i < 15; i++) digits[i] = command[i + 1];
        digits[15] = 0;
        long milliseconds = atol(digits);
        struct timespec wait = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
        nanosleep(&wait, 0);
    }
    return now == 'S' ? EIO : 0;
}

int fdatasync(int file) {
    NEXT(fdatasync);
    int error = sync_error(file);
    if (error) { errno = error; return -1; }
    return next(file);
}

int fsync(int file) {
    NEXT(fsync);
    int error = sync_error(file);
    if (error) { errno = error; return -1; }
    return next(file);
}
