/* Numbers for what Windows has as handles, which it gives anew as soon as they are closed. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system.h"
#include "check.h"
#include "open_descriptors.h"
#include "server/loopback.h"

#define OTHERS 64

/* Its handle may be that of any that was opened since. */
TEST(a_socket_that_listens_no_more_is_no_other)
{
    int listener = listen_on_loopback(), others[OTHERS], client, size = sizeof(struct sockaddr_in);
    struct sockaddr_in address;

    CHECK_EQUAL(0, shutdown(listener, SHUT_RDWR));
    for (int i = 0; i < OTHERS; i++)
        others[i] = listen_on_loopback();
    client = connect_to(others[0]);
    CHECK_EQUAL(-1, getsockname(listener, (struct sockaddr *)&address, &size));
    CHECK_EQUAL(EINVAL, errno);
    for (int i = 0; i < OTHERS; i++)
        CHECK_EQUAL(0, fcntl(others[i], F_SETFL, O_NONBLOCK));
    CHECK_EQUAL(-1, uw_accept(listener));
    CHECK_EQUAL(EINVAL, errno);
    close(client);
    for (int i = 0; i < OTHERS; i++)
        close(others[i]);
    close(listener);
}

/* Who comes while there is no number for him is not turned away. */
TEST(a_client_waits_until_there_is_a_number)
{
    int listener = listen_on_loopback(), client = connect_to(listener), accepted;
    struct rlimit before, low;

    CHECK_EQUAL(0, getrlimit(RLIMIT_NOFILE, &before));
    low = before;
    low.rlim_cur = 0;
    CHECK_EQUAL(0, setrlimit(RLIMIT_NOFILE, &low));
    CHECK_EQUAL(-1, uw_accept(listener));
    CHECK_EQUAL(EMFILE, errno);
    CHECK_EQUAL(0, setrlimit(RLIMIT_NOFILE, &before));
    accepted = uw_accept(listener);
    CHECK(accepted >= 0);
    close(accepted);
    close(client);
    close(listener);
}

TEST(nobody_accepted_leaves_no_number)
{
    int listener = listen_on_loopback(), before;

    CHECK_EQUAL(0, fcntl(listener, F_SETFL, O_NONBLOCK));
    before = open_descriptors();
    CHECK_EQUAL(-1, uw_accept(listener));
    CHECK_EQUAL(EAGAIN, errno);
    CHECK_EQUAL(before, open_descriptors());
    close(listener);
}

TEST_MAIN
