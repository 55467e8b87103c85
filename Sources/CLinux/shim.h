// The parts of Linux that Swift's Glibc module does not have: epoll, eventfd, and inline functions with plain
// numbers for calls of the system with unions, variadic arguments or casts between address types.
//
// _GNU_SOURCE is not defined here: with it, fd_set conflicts with the one in OpenSSL's module.
#ifndef AFTERLINK_CLINUX_H
#define AFTERLINK_CLINUX_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// The system's headers declare these functions only with _GNU_SOURCE.
extern int pthread_setname_np(pthread_t thread, const char *name);
extern int ppoll(struct pollfd *entries, nfds_t count, const struct timespec *limit, const sigset_t *mask);
extern int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);

// An event of a descriptor, without the union of epoll_event.
typedef struct {
    uint64_t token;
    uint32_t events;
} linux_event;

static inline int linux_epoll_control(int epoll, int operation, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data = {.u64 = token}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

static inline int linux_epoll_wait(int epoll, linux_event *events, int count, int milliseconds) {
    struct epoll_event ready[256];
    int most = count < 256 ? count : 256;
    int found = epoll_wait(epoll, ready, most, milliseconds);
    for (int index = 0; index < found; index++) {
        events[index].token = ready[index].data.u64;
        events[index].events = ready[index].events;
    }
    return found;
}

// Returns free memory of the C library's allocator to the system.
static inline void linux_return_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

// Makes the C library's allocator take each block of `least` bytes or more from the system, and return the block as
// soon as it is freed. The allocator then also returns the free memory at the heap's end when that memory exceeds
// `spare` bytes.
static inline void linux_return_large_blocks(int least, int spare) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, least);
    mallopt(M_TRIM_THRESHOLD, spare);
#endif
}

// Waits until a descriptor is ready for `events`, or until the time is over. The time is in nanoseconds, because the
// milliseconds of epoll_wait are too coarse. Returns 1 if the descriptor is ready, 0 after the time, -1 for an error.
static inline int linux_wait_for(int descriptor, short events, uint64_t nanoseconds) {
    struct pollfd entry = {.fd = descriptor, .events = events};
    struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    return ppoll(&entry, 1, &limit, NULL);
}

static inline int linux_wait_readable(int descriptor, uint64_t nanoseconds) {
    return linux_wait_for(descriptor, POLLIN, nanoseconds);
}

static inline int linux_wait_writable(int descriptor, uint64_t nanoseconds) {
    return linux_wait_for(descriptor, POLLOUT, nanoseconds);
}

static inline int linux_open_null(void) { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

// An address and port as numbers; an IPv4 address has its form as an IPv6 address (RFC 4291 §2.5.5.2).
typedef struct {
    uint64_t high;
    uint64_t low;
    uint16_t port;
} linux_address;

static inline linux_address linux_address_from(const struct sockaddr_storage *storage) {
    linux_address result = {0, 0, 0};
    if (storage->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)storage;
        result.low = 0xFFFF00000000u | (uint64_t)ntohl(v4->sin_addr.s_addr);
        result.port = ntohs(v4->sin_port);
    } else if (storage->ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)storage;
        for (int index = 0; index < 8; index++) {
            result.high = result.high << 8 | v6->sin6_addr.s6_addr[index];
            result.low = result.low << 8 | v6->sin6_addr.s6_addr[index + 8];
        }
        result.port = ntohs(v6->sin6_port);
    }
    return result;
}

// Writes an address in the system's form, and returns the length of this form.
static inline socklen_t linux_write_address(struct sockaddr_storage *storage, int is_ipv4, linux_address address) {
    memset(storage, 0, sizeof *storage);
    if (is_ipv4) {
        struct sockaddr_in *v4 = (struct sockaddr_in *)storage;
        v4->sin_family = AF_INET;
        v4->sin_port = htons(address.port);
        v4->sin_addr.s_addr = htonl((uint32_t)address.low);
        return sizeof *v4;
    }
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)storage;
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(address.port);
    for (int index = 0; index < 8; index++) {
        v6->sin6_addr.s6_addr[index] = (uint8_t)(address.high >> (56 - 8 * index));
        v6->sin6_addr.s6_addr[index + 8] = (uint8_t)(address.low >> (56 - 8 * index));
    }
    return sizeof *v6;
}

static inline int linux_bind(int socket, int is_ipv4, linux_address address) {
    struct sockaddr_storage storage;
    socklen_t length = linux_write_address(&storage, is_ipv4, address);
    return bind(socket, (const struct sockaddr *)&storage, length);
}

static inline int linux_connect(int socket, int is_ipv4, linux_address address) {
    struct sockaddr_storage storage;
    socklen_t length = linux_write_address(&storage, is_ipv4, address);
    return connect(socket, (const struct sockaddr *)&storage, length);
}

// Returns the error of a started connection after its socket became writable; 0 if the connection succeeded.
static inline int linux_connection_error(int socket) {
    int error = 0;
    socklen_t length = sizeof error;
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

static inline linux_address linux_local_address(int socket) {
    struct sockaddr_storage storage = {0};
    socklen_t length = sizeof storage;
    getsockname(socket, (struct sockaddr *)&storage, &length);
    return linux_address_from(&storage);
}

// An accepted connection; without one, the descriptor is -1 and `error` is the error number.
typedef struct {
    int descriptor;
    int error;
    linux_address peer;
} linux_accepted;

static inline linux_accepted linux_accept(int listener) {
    struct sockaddr_storage storage = {0};
    socklen_t length = sizeof storage;
    linux_accepted result = {-1, 0, {0, 0, 0}};
    result.descriptor = accept4(listener, (struct sockaddr *)&storage, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (result.descriptor < 0)
        result.error = errno;
    else
        result.peer = linux_address_from(&storage);
    return result;
}

static inline int linux_set_option(int socket, int level, int name, int value) {
    return setsockopt(socket, level, name, &value, sizeof value);
}

// Whether a TCP connection is closed, and how many bytes its peer has acknowledged; 0 if the system does not report it.
typedef struct {
    int is_closed;
    uint64_t acknowledged_bytes;
} linux_tcp_progress;

static inline linux_tcp_progress linux_progress_of(int socket) {
    // The C library's struct tcp_info is shorter than the kernel's, which never changes the offset of a field:
    // tcpi_state is at 0, tcpi_bytes_acked (Linux 4.1) at 120.
    unsigned char info[256];
    socklen_t length = sizeof info;
    linux_tcp_progress result = {0, 0};
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, info, &length) != 0 || length < 128) return result;
    result.is_closed = info[0] == TCP_CLOSE;
    memcpy(&result.acknowledged_bytes, info + 120, sizeof result.acknowledged_bytes);
    return result;
}

#endif
