/* The other end of connections to `server`, whose loop is turned meanwhile. */
#ifndef UW_TEST_LOOPBACK_PEER_H
#define UW_TEST_LOOPBACK_PEER_H

#include <errno.h>

#include "server/loopback_sockets.h"
#include "server/server.h"

#define LONG_NS (60 * UW_NS_PER_SECOND)
#define TURN_NS (UW_NS_PER_SECOND / 1000)
#define TURNS_MAX 20000

static struct uw_server server;

static inline void turn(void)
{
    CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
}

/* Returns how many of them came before the end. */
static inline size_t receive_from(int fd, char *bytes, size_t length)
{
    size_t count = 0;

    for (int i = 0; count < length && i < TURNS_MAX; i++) {
        ssize_t got = recv(fd, bytes + count, length - count, MSG_DONTWAIT);

        if (got == 0)
            return count;
        count += got > 0 ? (size_t)got : 0;
        if (got < 0)
            turn();
    }
    return count;
}

/* Reads until the end of the stream. Returns 0, or the errno that came in its place; `count` bytes came before. */
static inline int receive_to_the_end(int fd, size_t *count)
{
    char bytes[16 * 1024];

    *count = 0;
    for (int i = 0; i < TURNS_MAX; i++) {
        ssize_t got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);

        if (got == 0 || (got < 0 && errno != EAGAIN))
            return got ? errno : 0;
        *count += got > 0 ? (size_t)got : 0;
        if (got < 0)
            turn();
    }
    return ETIMEDOUT;
}

static inline void expect_from(int fd, const char *bytes, size_t length)
{
    char *got = malloc(length + 1);

    CHECK_EQUAL(length, receive_from(fd, got, length));
    CHECK(memcmp(bytes, got, length) == 0);
    free(got);
}

#endif
