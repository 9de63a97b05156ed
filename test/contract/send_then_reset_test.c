/* Clients that send, and reset at once. */
#include "backend_contract.h"

#include "stress/seeded_random.h"

#define LEAVERS 4    /* threads */
#define VISITS 10000 /* of each, with io_uring, see below */
#define VISITS_ELSEWHERE 500
#define VISITS_UNDER_VALGRIND 50
#define BYTES_MAX 200000
#define VISITS_AT_ONCE 24 /* of a thread, before it waits for the loop */
#define BACKLOG (LEAVERS * (VISITS_AT_ONCE + 1))
#define SILENCE_NS (5 * UW_NS_PER_SECOND / 2) /* after which io_uring has looked whether a stream has ended */

struct leaver {
    pthread_t thread;
    uint64_t seed;
    int visits, connections;
    struct uw_message last_words;
};

static struct sockaddr_in address;
static int came, heard, gone; /* accepted, of whom bytes came, and leavers */

static void visit(size_t length)
{
    static const char bytes[BYTES_MAX];
    int fd = connect_to(&address);

    CHECK(send(fd, bytes, length, MSG_NOSIGNAL) >= 0);
    reset(fd);
}

/* Then all who came before have been accepted, or never will be: who has gone need not be. */
static void be_received_and_closed(void)
{
    static const struct timeval patience = {.tv_sec = PATIENCE_NS / UW_NS_PER_SECOND};
    int fd = connect_to(&address);
    char byte;

    CHECK_EQUAL(0, setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience));
    CHECK_EQUAL(0, shutdown(fd, SHUT_WR));
    CHECK_EQUAL(0, recv(fd, &byte, 1, 0));
    CHECK_EQUAL(0, close(fd));
}

static void *leave(void *argument)
{
    struct leaver *leaver = argument;
    struct dice dice = {leaver->seed};

    for (int i = 0; i < leaver->visits && check_failures == 0; i++) {
        visit(1 + below(&dice, BYTES_MAX));
        leaver->connections++;
        if (i % VISITS_AT_ONCE == 0) {
            be_received_and_closed();
            leaver->connections++;
        }
    }
    be_received_and_closed();
    leaver->connections++;
    uw_loop_post(&loop, &leaver->last_words);
    return NULL;
}

static void count_leaver(struct uw_loop *on, struct uw_message *message)
{
    (void)on, (void)message;
    gone++;
}

static void until_end(struct uw_loop *on, struct uw_operation *receive, int32_t result)
{
    if (result > 0) {
        heard++;
        return;
    }
    CHECK_EQUAL(0, uw_close(on, receive->fd));
    free(receive);
    results++;
}

static void receive_from(struct uw_loop *on, struct uw_operation *accept, int32_t result)
{
    struct uw_operation *receive = result >= 0 ? malloc(sizeof *receive) : NULL;

    last_result = result;
    if (!receive) {
        CHECK_EQUAL(-ECANCELED, result);
        CHECK(accept->cancelled);
        return;
    }
    *receive = (struct uw_operation){.opcode = UW_RECEIVE, .fd = result, .complete = until_end};
    uw_submit(on, receive);
    came++;
}

static void listen_for(struct uw_operation *accept)
{
    came = heard = gone = 0;
    address = (struct sockaddr_in){0};
    *accept = (struct uw_operation){.opcode = UW_ACCEPT, .fd = listen_at(&address, BACKLOG), .complete = receive_from};
}

static void end_listening(struct uw_operation *accept)
{
    CHECK_EQUAL(-ECANCELED, cancel(accept));
    CHECK_EQUAL(0, uw_close(&loop, accept->fd));
}

static int visits_here(void)
{
    if (getenv("UW_UNDER_VALGRIND"))
        return VISITS_UNDER_VALGRIND;
    return strncmp(backend_name, "io_uring", 8) == 0 ? VISITS : VISITS_ELSEWHERE;
}

/* However long it takes, as long as somebody comes. */
static void turn_until_leavers_have_gone(void)
{
    int64_t deadline_ns = uw_clock_ns() + PATIENCE_NS;
    int known = 0, error = 0;

    while (gone < LEAVERS && !error && uw_clock_ns() < deadline_ns) {
        error = uw_loop_turn(&loop, PATIENCE_NS);
        if (came > known)
            deadline_ns = uw_clock_ns() + PATIENCE_NS;
        known = came;
    }
    CHECK_EQUAL(0, error);
    CHECK_EQUAL(LEAVERS, gone);
}

/* On Linux 6.18 a multishot receive of io_uring does not tell of one such reset in 60,000. */
CONTRACT(every_reset_is_told)
{
    struct uw_operation accept;
    struct leaver leavers[LEAVERS];
    int connections = 0;

    listen_for(&accept);
    uw_submit(&loop, &accept);
    for (int i = 0; i < LEAVERS; i++) {
        leavers[i] =
            (struct leaver){.seed = (uint64_t)i, .visits = visits_here(), .last_words = {.receive = count_leaver}};
        CHECK_EQUAL(0, pthread_create(&leavers[i].thread, NULL, leave, &leavers[i]));
    }
    turn_until_leavers_have_gone();
    turn_until(&results, came);
    for (int i = 0; i < LEAVERS; i++) {
        CHECK_EQUAL(0, pthread_join(leavers[i].thread, NULL));
        connections += leavers[i].connections;
    }
#ifdef __linux__ /* others accept nobody who has gone */
    CHECK_EQUAL(connections, came);
#endif
    end_listening(&accept);
}

/* The kernel may tell of him, or not: there are others. */
CONTRACT(who_has_left_before_he_is_accepted_ends_nothing)
{
    struct uw_operation accept;
    int client;

    listen_for(&accept);
    for (int i = 0; i < VISITS_AT_ONCE; i++)
        reset(connect_to(&address));
    uw_submit(&loop, &accept);
    client = connect_to(&address);
    CHECK_EQUAL(1, send(client, "x", 1, MSG_NOSIGNAL));
    turn_until(&heard, 1);
    CHECK_EQUAL(0, close(client));
    turn_until(&results, came);
    end_listening(&accept);
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
        receives[i] = (struct uw_operation){.opcode = UW_RECEIVE, .fd = fds[i][0], .complete = note};
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
