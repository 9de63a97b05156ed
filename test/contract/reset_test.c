/* Clients that send, and reset at once. */
#include "contract.h"

#include "stress/random.h"

#define LEAVERS 4    /* threads */
#define VISITS 10000 /* of each, with io_uring, see below */
#define VISITS_ELSEWHERE 500
#define VISITS_UNDER_VALGRIND 50
#define BYTES_MAX 200000
#define AWAY_MAX 50 /* who have left, and of whose end the loop has not been told */
#define BACKLOG (AWAY_MAX + 2 * LEAVERS)
#define SILENCE_NS (5 * UW_NS_PER_SECOND / 2) /* after which io_uring has looked whether a stream has ended */

static struct sockaddr_in address;
static int visits;
static atomic_int left; /* of whom the loop has not been told */

static void visit(size_t length)
{
    static const char bytes[BYTES_MAX];
    int fd = connect_to(&address);

    CHECK(send(fd, bytes, length, MSG_NOSIGNAL) >= 0);
    reset(fd);
    atomic_fetch_add(&left, 1);
}

static void *leave(void *number)
{
    struct dice dice = {(uintptr_t)number};

    for (int i = 0; i < visits; i++) {
        visit(1 + below(&dice, BYTES_MAX));
        while (atomic_load(&left) > AWAY_MAX)
            usleep(100);
    }
    return NULL;
}

static void until_reset(struct uw_loop *on, struct uw_operation *receive, int32_t result)
{
    if (result > 0)
        return;
    CHECK_EQUAL(0, uw_close(on, receive->fd));
    free(receive);
    atomic_fetch_sub(&left, 1);
    results++;
}

static void receive_from(struct uw_loop *on, struct uw_operation *accept, int32_t result)
{
    struct uw_operation *receive = result >= 0 ? malloc(sizeof *receive) : NULL;

    (void)accept;
    last_result = result;
    if (!receive)
        return;
    *receive = (struct uw_operation){.verb = UW_RECEIVE, .fd = result, .complete = until_reset};
    uw_submit(on, receive);
}

static int visits_here(void)
{
    if (getenv("UW_UNDER_VALGRIND"))
        return VISITS_UNDER_VALGRIND;
    return strncmp(backend_name, "io_uring", 8) == 0 ? VISITS : VISITS_ELSEWHERE;
}

/* On Linux 6.18 a multishot receive of io_uring does not tell of one such reset in 60,000. */
CONTRACT(every_reset_is_told)
{
    struct uw_operation accept = {.verb = UW_ACCEPT, .complete = receive_from};
    pthread_t leavers[LEAVERS];

    address = (struct sockaddr_in){0};
    accept.fd = listen_at(&address, BACKLOG);
    visits = visits_here();
    uw_submit(&loop, &accept);
    for (uintptr_t i = 0; i < LEAVERS; i++)
        CHECK_EQUAL(0, pthread_create(&leavers[i], NULL, leave, (void *)i));
    turn_until(&results, LEAVERS * visits);
    for (int i = 0; i < LEAVERS; i++)
        CHECK_EQUAL(0, pthread_join(leavers[i], NULL));
    CHECK_EQUAL(-ECANCELED, cancel(&accept));
    CHECK_EQUAL(0, uw_close(&loop, accept.fd));
}

static void be_silent(void)
{
    int64_t until_ns = uw_clock_ns() + SILENCE_NS;

    while (uw_clock_ns() < until_ns)
        CHECK_EQUAL(0, uw_loop_turn(&loop, until_ns - uw_clock_ns()));
}

/* Clients who have not ended lose nothing by the look: one sends again, one has only ceased to receive. */
CONTRACT(who_falls_silent_is_received_from_again)
{
    struct uw_operation receives[2];
    int fds[2][2];

    if (strncmp(backend_name, "io_uring", 8) != 0)
        SKIP("only io_uring looks at those who are silent");
    for (int i = 0; i < 2; i++) {
        make_pair(fds[i]);
        receives[i] = (struct uw_operation){.verb = UW_RECEIVE, .fd = fds[i][0], .complete = note};
        uw_submit(&loop, &receives[i]);
        CHECK_EQUAL(1, write(fds[i][1], "x", 1));
    }
    turn_until(&results, 2);
    CHECK_EQUAL(0, shutdown(fds[1][1], SHUT_RD));
    be_silent();
    CHECK_EQUAL(2, results);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(1, write(fds[i][1], "y", 1));
    turn_until(&results, 4);
    CHECK_EQUAL(4, total);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(-ECANCELED, cancel(&receives[i]));
        close_pair(fds[i]);
    }
}

CONTRACT_MAIN
