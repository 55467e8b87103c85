// A library that tests preload into the server under test. It makes accept4 fail with an error number, which it reads
// as text from the file named by AFTERLINK_ACCEPT_ERROR; 0 means no failure. Clients that are not accepted wait.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static volatile const char *number;

__attribute__((constructor)) static void read_number(void) {
    // Like many a preloaded library, this moves the environment away from the arguments.
    setenv("ACCEPT_LIBRARY", "loaded", 1);
    const char *path = getenv("AFTERLINK_ACCEPT_ERROR");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *page = mmap(0, 8, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) number = page;
    close(file);
}

int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags) {
    static int (*next)(int, struct sockaddr *, socklen_t *, int);
    if (!next) next = dlsym(RTLD_NEXT, "accept4");
    int error = number ? atoi((const char *)number) : 0;
    if (error) { errno = error; return -1; }
    return next(listener, address, length, flags);
}
