/* Which of the sockets that listen on one port new connections go to. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system.h"
#include "check.h"

#define SOCKETS 4
#define CLIENTS 64

struct group {
    struct sockaddr_in address;
    int sockets[SOCKETS];
};

static int listening(struct sockaddr_in *address, bool shared)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = shared;
    socklen_t length = sizeof *address;

    CHECK_EQUAL(0, setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on));
    CHECK_EQUAL(0, bind(fd, (const struct sockaddr *)address, length));
    CHECK_EQUAL(0, listen(fd, CLIENTS));
    CHECK_EQUAL(0, getsockname(fd, (struct sockaddr *)address, &length));
    return fd;
}

static void open_group(struct group *group)
{
    group->address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int i = 0; i < SOCKETS; i++)
        group->sockets[i] = listening(&group->address, true);
}

static void close_group(const struct group *group)
{
    for (int i = 0; i < SOCKETS; i++)
        close(group->sockets[i]);
}

static void connect_clients(const struct group *group, int clients[CLIENTS])
{
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        CHECK_EQUAL(0, connect(clients[i], (const struct sockaddr *)&group->address, sizeof group->address));
    }
}

static int take_connections(int listener)
{
    int count = 0, fd;

    while ((fd = accept(listener, NULL, NULL)) >= 0) {
        close(fd);
        count++;
    }
    return count;
}

/* How many of so many clients each socket gets. */
static void spread(const struct group *group, int counts[SOCKETS])
{
    int clients[CLIENTS];

    connect_clients(group, clients);
    for (int i = 0; i < SOCKETS; i++)
        counts[i] = take_connections(group->sockets[i]);
    for (int i = 0; i < CLIENTS; i++)
        close(clients[i]);
}

static bool can_steer(const struct group *group)
{
    return uw_steer(group->sockets[0], NULL, 0) != -ENOSYS;
}

/* The kernel orders them itself: one of the group may be asked for all. */
TEST(connections_go_to_those_that_are_named_alone_or_to_all)
{
    const uint32_t some[] = {1, 3}, one[] = {2};
    int counts[SOCKETS];
    struct group group;

    open_group(&group);
    if (!can_steer(&group))
        SKIP("this system cannot steer");
    CHECK_EQUAL(0, uw_steer(group.sockets[0], some, 2));
    spread(&group, counts);
    CHECK(counts[1] > 0 && counts[3] > 0);
    CHECK_EQUAL(CLIENTS, counts[1] + counts[3]);
    CHECK_EQUAL(0, uw_steer(group.sockets[3], one, 1));
    spread(&group, counts);
    CHECK_EQUAL(CLIENTS, counts[2]);
    CHECK_EQUAL(0, uw_steer(group.sockets[1], NULL, 0));
    spread(&group, counts);
    for (int i = 0; i < SOCKETS; i++)
        CHECK(counts[i] > 0);
    close_group(&group);
}

TEST(what_cannot_be_steered_is_told)
{
    static uint32_t indexes[UW_STEERED_MAX + 1];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int alone = listening(&address, false);
    struct group group;

    open_group(&group);
    if (!can_steer(&group))
        SKIP("this system cannot steer");
    CHECK_EQUAL(-E2BIG, uw_steer(group.sockets[0], indexes, UW_STEERED_MAX + 1));
    CHECK_EQUAL(0, uw_steer(group.sockets[0], indexes, UW_STEERED_MAX));
    CHECK_EQUAL(-EINVAL, uw_steer(alone, indexes, 1));
    CHECK_EQUAL(-EINVAL, uw_steer(alone, NULL, 0));
    close(alone);
    close_group(&group);
}

TEST_MAIN
