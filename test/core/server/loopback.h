/* Sockets between a server and its clients, and the backends that it may have. */
#ifndef UW_TEST_LOOPBACK_H
#define UW_TEST_LOOPBACK_H

#include <netinet/in.h>
#include <sys/socket.h>

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

static inline void on_each_backend(void (*test)(const char *backend))
{
    for (int i = 0; uw_backends[i]; i++)
        if (!uw_backend_probe(uw_backends[i]))
            test(uw_backends[i]->name);
}

#endif
