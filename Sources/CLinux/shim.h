// What Linux has and Swift's Glibc module does not: epoll and eventfd.
//
// _GNU_SOURCE is not defined here: with it, fd_set clashes with the one in OpenSSL's module.
#ifndef AFTERLINK_CLINUX_H
#define AFTERLINK_CLINUX_H

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

// Declared only under _GNU_SOURCE (see above).
extern int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);

#endif
