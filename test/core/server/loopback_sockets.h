/* Sockets between a server and its clients, and the backends that it may have. */
#ifndef UW_TEST_LOOPBACK_SOCKETS_H
#define UW_TEST_LOOPBACK_SOCKETS_H

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system.h"
#include "check.h"
#include "io/backend.h"

#define BACKLOG 10

/* On a free port. */
static inline int listen_on_loopback(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK_EQUAL(0, bind(fd, (struct sockaddr *)&address, sizeof address));
    CHECK_EQUAL(0, listen(fd, BACKLOG));
    return fd;
}

static inline struct sockaddr_in address_of(int listener)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;

    CHECK_EQUAL(0, getsockname(listener, (struct sockaddr *)&address, &size));
    return address;
}

static inline void connect_socket(int fd, int listener)
{
    struct sockaddr_in address = address_of(listener);

    CHECK_EQUAL(0, connect(fd, (struct sockaddr *)&address, sizeof address));
}

static inline int connect_to(int listener)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    connect_socket(fd, listener);
    return fd;
}

/* Two ends, as uw_socket_pair's are. */
static inline void connected_pair(int ends[2])
{
    int listener = listen_on_loopback();

    ends[0] = connect_to(listener);
    ends[1] = uw_accept(listener);
    CHECK(ends[1] >= 0);
    CHECK_EQUAL(0, fcntl(ends[0], F_SETFL, O_NONBLOCK));
    close(listener);
}

/* Under valgrind on one: the memory above the backends is the same on each. The contract's tests use each backend
 * there. */
static inline void on_each_backend(void (*test)(const char *backend))
{
    int used = 0;

    for (int i = 0; uw_backends[i]; i++) {
        if (uw_backend_probe(uw_backends[i]) || (used && getenv("UW_UNDER_VALGRIND")))
            continue;
        test(uw_backends[i]->name);
        used++;
    }
}

#endif
