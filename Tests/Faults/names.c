// A library that tests preload into the server under test. Look-ups of the name rebind.test return 127.0.0.1 and
// 127.0.0.2 in turn, first 127.0.0.1. Each look-up adds the last digit of the address to the file named by
// AFTERLINK_LOOKUPS.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Atomic unsigned lookups;

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **list) {
    static int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (!next) next = dlsym(RTLD_NEXT, "getaddrinfo");
    if (name && strcmp(name, "rebind.test") == 0) {
        name = atomic_fetch_add(&lookups, 1) % 2 == 0 ? "127.0.0.1" : "127.0.0.2";
        int file = open(getenv("AFTERLINK_LOOKUPS"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (file < 0 || write(file, name + strlen(name) - 1, 1) != 1) abort();
        close(file);
    }
    return next(name, service, hints, list);
}
