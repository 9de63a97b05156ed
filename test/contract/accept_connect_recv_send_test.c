/* Accepting, connecting, receiving and sending. */
#include <sys/resource.h>

#include "backend_contract.h"

#define CLIENTS 200
#define SHARED_CLIENTS 10           /* one after the other */
#define BIG_BYTES (4 * 1024 * 1024) /* more than the kernel keeps */
#define PAIRS 1000                  /* two operations each: more than a submission queue holds */
#define ROUNDS 5

static int accepted[CLIENTS];

static void keep(struct uw_loop *on, struct uw_operation *operation, int32_t result)
{
    (void)on;
    last_result = result;
    CHECK(operation->pending == (result >= 0));
    if (result >= 0)
        accepted[results++] = result;
}

static void accept_clients(bool nonblocking)
{
    struct sockaddr_in address = {0};
    int fd = listen_at(&address, CLIENTS), clients[CLIENTS];
    struct uw_operation accept = {.opcode = UW_ACCEPT, .fd = fd, .complete = keep};

    if (nonblocking)
        set_nonblocking(fd);
    results = 0;
    uw_submit(&loop, &accept);
    for (int half = 1; half <= 2; half++) {
        for (int i = results; i < CLIENTS / 2 * half; i++)
            clients[i] = connect_to(&address);
        turn_until(&results, CLIENTS / 2 * half);
    }
    for (int i = 0; i < CLIENTS; i++) {
        CHECK(fcntl(accepted[i], F_GETFD) & FD_CLOEXEC);
        CHECK(fcntl(accepted[i], F_GETFL) & O_NONBLOCK);
        CHECK_EQUAL(0, uw_close(&loop, accepted[i]));
        close(clients[i]);
    }
    CHECK_EQUAL(-ECANCELED, cancel(&accept));
    CHECK_EQUAL(CLIENTS, results);
    CHECK_EQUAL(0, uw_close(&loop, fd));
}

CONTRACT(accepts_all_until_cancelled)
{
    accept_clients(false);
    accept_clients(true);
}

static bool usable(const struct uw_backend *backend)
{
    bool io_uring = strncmp(backend->name, "io_uring", 8) == 0;

    return !(io_uring && getenv("UW_UNDER_VALGRIND")) && uw_backend_probe(backend) == 0;
}

/* As other processes may, for which the descriptor and its flags are the same. */
static void accept_on_every_backend(int fd)
{
    for (size_t i = 0; uw_backends[i]; i++) {
        struct uw_operation accept = {.opcode = UW_ACCEPT, .fd = fd, .complete = keep};
        struct uw_loop other;

        if (!usable(uw_backends[i]))
            continue;
        CHECK_EQUAL(0, uw_loop_open(&other, uw_backends[i]->name, expired));
        uw_submit(&other, &accept);
        CHECK_EQUAL(0, uw_loop_turn(&other, 0));
        uw_loop_close(&other);
    }
}

static void share_listener(bool nonblocking)
{
    struct sockaddr_in address = {0};
    int fd = listen_at(&address, 3), clients[3];
    struct uw_operation accept = {.opcode = UW_ACCEPT, .fd = fd, .complete = keep};
    bool waits; /* without O_NONBLOCK epoll and poll would, for ever */

    if (nonblocking)
        set_nonblocking(fd);
    results = 0;
    uw_submit(&loop, &accept);
    CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    nonblocking = fcntl(fd, F_GETFL) & O_NONBLOCK;
    accept_on_every_backend(fd);
    waits = nonblocking && !(fcntl(fd, F_GETFL) & O_NONBLOCK);
    CHECK(!waits);
    for (int i = 0; i < 3 && !waits; i++) {
        clients[i] = connect_to(&address);
        turn_until(&results, i + 1);
        CHECK(accept.pending);
        CHECK_EQUAL(0, uw_close(&loop, accepted[i]));
        CHECK_EQUAL(0, close(clients[i]));
    }
    CHECK_EQUAL(-ECANCELED, cancel(&accept));
    CHECK_EQUAL(0, uw_close(&loop, fd));
}

CONTRACT(a_listener_is_shared_with_loops_of_other_backends)
{
    share_listener(false);
    share_listener(true);
}

static void keep_one(struct uw_loop *on, struct uw_operation *operation, int32_t result)
{
    keep(on, operation, result);
    uw_cancel(on, operation);
}

CONTRACT(who_accepts_stepwise_and_cancels_is_given_nobody_more)
{
    struct sockaddr_in address = {0};
    int fd = listen_at(&address, 3), clients[3];
    struct uw_operation accept = {.opcode = UW_ACCEPT, .fd = fd, .complete = keep_one, .oneshot = true};

    for (int i = 0; i < 3; i++)
        clients[i] = connect_to(&address);
    for (int i = 0; i < 3; i++) {
        uw_submit(&loop, &accept);
        while (accept.pending)
            CHECK_EQUAL(0, uw_loop_turn(&loop, PATIENCE_NS));
        CHECK_EQUAL(-ECANCELED, last_result);
        CHECK_EQUAL(i + 1, results);
    }
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(0, uw_close(&loop, accepted[i]));
        close(clients[i]);
    }
    CHECK_EQUAL(0, uw_close(&loop, fd));
}

/* Submits an accept of a listener that `busy` shares with `loop`. From now on `busy` turns no more. */
static void accept_when_busy(struct uw_loop *busy, struct uw_operation *accept, int fd)
{
    CHECK_EQUAL(0, uw_loop_open(busy, backend_name, expired));
    *accept = (struct uw_operation){.opcode = UW_ACCEPT, .fd = fd, .complete = keep, .shared = true};
    uw_submit(busy, accept);
    CHECK_EQUAL(0, uw_loop_turn(busy, 0));
}

CONTRACT(a_busy_loop_leaves_clients_of_a_shared_listener_to_others)
{
    struct sockaddr_in address = {0};
    int fd = listen_at(&address, 1), client;
    struct uw_operation accept = {.opcode = UW_ACCEPT, .fd = fd, .complete = keep, .shared = true}, others[2];
    struct uw_loop busy[2];

    accept_when_busy(&busy[0], &others[0], fd);
    uw_submit(&loop, &accept);
    CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    accept_when_busy(&busy[1], &others[1], fd);
    for (int i = 0; i < SHARED_CLIENTS && results == i; i++) {
        client = connect_to(&address);
        turn_until(&results, i + 1);
        CHECK_EQUAL(0, close(client));
    }
    CHECK_EQUAL(-ECANCELED, cancel(&accept));
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(0, uw_loop_turn(&busy[i], 0)); /* finds no client, and does not wait for one */
        CHECK(others[i].pending);
        uw_loop_close(&busy[i]);
    }
    CHECK_EQUAL(SHARED_CLIENTS, results);
    for (int i = 0; i < results; i++) {
        CHECK(fcntl(accepted[i], F_GETFD) & FD_CLOEXEC);
        CHECK(fcntl(accepted[i], F_GETFL) & O_NONBLOCK);
        CHECK_EQUAL(0, uw_close(&loop, accepted[i]));
    }
    CHECK_EQUAL(0, uw_close(&loop, fd));
}

CONTRACT(who_accepts_from_a_shared_listener_and_cancels_leaves_clients_there)
{
    struct sockaddr_in address = {0};
    int fd = listen_at(&address, 1), client, waiting;
    struct uw_operation accept = {.opcode = UW_ACCEPT, .fd = fd, .complete = keep, .shared = true};

    uw_submit(&loop, &accept);
    CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    client = connect_to(&address);
    uw_loop_flush_sync(&loop); /* the loop may know of the client */
    CHECK_EQUAL(-ECANCELED, cancel(&accept));
    CHECK_EQUAL(0, results);
    set_nonblocking(fd);
    waiting = uw_accept(fd);
    CHECK(waiting >= 0);
    close(waiting);
    close(client);
    CHECK_EQUAL(0, uw_close(&loop, fd));
}

/* Has the kernel accept a client, or see it, of which the loop is not told any more. */
static void accept_too_late(struct uw_loop *on, bool shared)
{
    static struct uw_operation accepts[2];
    struct uw_operation *accept = &accepts[shared];
    struct sockaddr_in address = {0};
    int fd = listen_at(&address, 1), client;

    *accept = (struct uw_operation){.opcode = UW_ACCEPT, .fd = fd, .complete = keep, .shared = shared};
    uw_submit(on, accept);
    CHECK_EQUAL(0, uw_loop_turn(on, 0));
    client = connect_to(&address);
    uw_loop_flush_sync(on);
    CHECK_EQUAL(0, close(client));
    CHECK_EQUAL(0, close(fd));
}

CONTRACT(who_is_accepted_while_the_loop_closes_is_let_go)
{
    accept_too_late(&loop, false);
}

CONTRACT(who_is_seen_while_the_loop_closes_is_left_alone)
{
    accept_too_late(&loop, true);
}

static void *accept_in_a_thread(void *other)
{
    CHECK_EQUAL(0, uw_loop_open(other, backend_name, expired));
    accept_too_late(other, false);
    return NULL;
}

CONTRACT(also_when_another_thread_closes_it)
{
    struct uw_loop other;
    pthread_t thread;

    CHECK_EQUAL(0, pthread_create(&thread, NULL, accept_in_a_thread, &other));
    CHECK_EQUAL(0, pthread_join(thread, NULL));
    uw_loop_close(&other);
}

CONTRACT(accepts_who_waits_or_nobody)
{
    struct sockaddr_in address = {0};
    int fd = listen_at(&address, 1), client, connected;
    struct uw_operation accept = {.opcode = UW_ACCEPT_WAITING, .fd = fd};

    if (run(&accept) == -EINVAL)
        SKIP("io_uring waits for a client here: Linux is older than 6.10");
    CHECK_EQUAL(-EAGAIN, last_result);
    client = connect_to(&address);
    connected = run(&accept);
    CHECK(connected >= 0 && fcntl(connected, F_GETFD) & FD_CLOEXEC && fcntl(connected, F_GETFL) & O_NONBLOCK);
    CHECK_EQUAL(-EAGAIN, run(&accept));
    CHECK_EQUAL(0, uw_close(&loop, connected));
    CHECK_EQUAL(0, close(client));
    CHECK_EQUAL(0, uw_close(&loop, fd));
}

static void connect_and_be_refused(bool nonblocking)
{
    struct sockaddr_in address = {0};
    int server = listen_at(&address, 1);
    struct uw_operation connect = {.opcode = UW_CONNECT, .data = &address, .length = sizeof address};

    for (int i = 0; i < 2; i++) {
        connect.fd = socket(AF_INET, SOCK_STREAM, 0);
        if (nonblocking)
            set_nonblocking(connect.fd);
        CHECK_EQUAL(i == 0 ? 0 : -ECONNREFUSED, run(&connect));
        CHECK_EQUAL(0, uw_close(&loop, connect.fd));
        if (i == 0)
            close(server);
    }
}

CONTRACT(connects_or_is_refused)
{
    connect_and_be_refused(false);
    connect_and_be_refused(true);
}

CONTRACT(receives_as_bytes_come)
{
    int fds[2];
    struct uw_operation receive = {.opcode = UW_RECEIVE, .complete = note};

    make_pair(fds);
    set_nonblocking(fds[0]);
    receive.fd = fds[0];
    uw_submit(&loop, &receive);
    for (int i = 1; i <= 3; i++) {
        CHECK_EQUAL(5, write(fds[1], "hello", 5));
        turn_until(&total, 5 * i);
        CHECK_EQUAL(i, results);
        CHECK(memcmp(receive.data, "hello", 5) == 0);
    }
    CHECK_EQUAL(0, shutdown(fds[1], SHUT_WR));
    turn_until(&results, 4);
    CHECK(last_result == 0 && !receive.pending);
    close_pair(fds);
}

CONTRACT(what_was_sent_before_the_end_comes_before_it)
{
    int fds[2];
    struct uw_operation receive = {.opcode = UW_RECEIVE};

    make_pair(fds);
    CHECK_EQUAL(5, write(fds[1], "hello", 5));
    CHECK_EQUAL(0, close(fds[1]));
    receive.fd = fds[0];
    CHECK_EQUAL(0, run(&receive));
    CHECK(results == 2 && total == 5);
    CHECK_EQUAL(0, uw_close(&loop, fds[0]));
}

CONTRACT(a_reset_is_an_error)
{
    struct sockaddr_in address = {0};
    int server = listen_at(&address, 1), client = connect_to(&address), fd = accept(server, NULL, NULL);
    struct uw_operation receive = {.opcode = UW_RECEIVE, .fd = fd, .complete = note};

    run_into_waiting(&receive);
    reset(client);
    turn_until(&results, 1);
    CHECK(last_result == -ECONNRESET && !receive.pending);
    CHECK_EQUAL(0, uw_close(&loop, fd));
    close(server);
}

static void cancel_at_once(struct uw_loop *on, struct uw_operation *operation, int32_t result)
{
    note(on, operation, result);
    if (result > 0)
        uw_cancel(on, operation);
}

/* Fills `fd` with zeros until it takes no more. Returns the bytes. */
static int fill(int fd)
{
    static const char zeros[65536];
    ssize_t written;
    int sum = 0;

    set_nonblocking(fd);
    while ((written = write(fd, zeros, sizeof zeros)) > 0)
        sum += (int)written;
    CHECK_EQUAL(EAGAIN, errno);
    return sum;
}

static int read_rest(int fd)
{
    static char bytes[65536];
    ssize_t count;
    int sum = 0;

    while ((count = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        sum += (int)count;
    return sum;
}

CONTRACT(who_receives_stepwise_and_cancels_is_given_nothing_more)
{
    struct uw_operation receive = {.opcode = UW_RECEIVE, .oneshot = true, .complete = cancel_at_once};
    int fds[2], sum;

    make_pair(fds);
    sum = fill(fds[1]);
    CHECK(sum > UW_RECEIVE_BYTES_MAX);
    receive.fd = fds[0];
    for (int i = 1; i <= 2; i++) {
        uw_submit(&loop, &receive);
        turn_until(&results, 2 * i);
        CHECK_EQUAL(2 * i, results);
        CHECK(last_result == -ECANCELED && !receive.pending);
        CHECK(total <= i * UW_RECEIVE_BYTES_MAX);
    }
    CHECK_EQUAL(sum, total + read_rest(fds[0]));
    close_pair(fds);
}

#define GREEDY 100 /* streams, with more to receive at once than there are buffers for */

static struct uw_operation greedy[GREEDY];

static void cancel_the_others(struct uw_loop *on, struct uw_operation *operation, int32_t result)
{
    (void)operation;
    if (result <= 0) {
        CHECK_EQUAL(-ECANCELED, result);
        results++;
    }
    for (int i = 0; i < GREEDY; i++)
        uw_cancel(on, &greedy[i]);
}

CONTRACT(who_pauses_while_there_is_no_buffer_has_paused_and_not_failed)
{
    int fds[GREEDY][2];

    for (int i = 0; i < GREEDY; i++) {
        make_pair(fds[i]);
        fill(fds[i][1]);
        greedy[i] = (struct uw_operation){.opcode = UW_RECEIVE, .fd = fds[i][0], .complete = cancel_the_others};
        uw_submit(&loop, &greedy[i]);
    }
    turn_until(&results, GREEDY);
    CHECK_EQUAL(GREEDY, results);
    for (int i = 0; i < GREEDY; i++)
        close_pair(fds[i]);
}

CONTRACT(receiving_can_be_paused)
{
    int fds[2];
    struct uw_operation receive = {.opcode = UW_RECEIVE, .complete = note};

    make_pair(fds);
    receive.fd = fds[0];
    for (int i = 1; i <= 10; i++) {
        uw_submit(&loop, &receive);
        CHECK_EQUAL(-ECANCELED, cancel(&receive));
        CHECK_EQUAL(2, write(fds[1], "ab", 2));
        CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
        CHECK_EQUAL(2 * (i - 1), total); /* nothing comes to one who pauses */
        uw_submit(&loop, &receive);
        turn_until(&total, 2 * i);
        CHECK_EQUAL(-ECANCELED, cancel(&receive));
    }
    close_pair(fds);
}

static struct uw_operation twins[2];

/* Whichever comes first ends the other. */
static void end_the_other(struct uw_loop *on, struct uw_operation *operation, int32_t result)
{
    if (result > 0)
        uw_cancel(on, operation == &twins[0] ? &twins[1] : &twins[0]);
    else
        CHECK_EQUAL(-ECANCELED, result);
    if (!operation->pending)
        results++;
}

CONTRACT(a_callback_may_cancel_another_operation_that_is_ready)
{
    int fds[2][2];

    for (int i = 0; i < 2; i++) {
        make_pair(fds[i]);
        CHECK_EQUAL(1, write(fds[i][1], "x", 1));
        twins[i] = (struct uw_operation){.opcode = UW_RECEIVE, .fd = fds[i][0], .complete = end_the_other};
    }
    uw_submit(&loop, &twins[0]);
    uw_submit(&loop, &twins[1]);
    turn_until(&results, 1);
    for (int i = 0; i < 2; i++)
        if (twins[i].pending)
            uw_cancel(&loop, &twins[i]);
    turn_until(&results, 2);
    CHECK(!twins[0].pending && !twins[1].pending);
    CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    CHECK_EQUAL(2, results); /* each ends once */
    close_pair(fds[0]);
    close_pair(fds[1]);
}

static unsigned char byte_at(long position)
{
    return (unsigned char)(position % 251);
}

static unsigned char *big_bytes(void)
{
    unsigned char *bytes = malloc(BIG_BYTES);

    CHECK(bytes != NULL);
    for (long i = 0; bytes && i < BIG_BYTES; i++)
        bytes[i] = byte_at(i);
    return bytes;
}

/* Returns how many bytes came, each in its place. */
static void *read_all(void *argument)
{
    static unsigned char buffer[50000];
    int fd = *(int *)argument;
    long sum = 0;
    ssize_t count;

    while ((count = read(fd, buffer, sizeof buffer)) > 0) {
        for (ssize_t i = 0; i < count; i++)
            if (buffer[i] != byte_at(sum + i))
                return (void *)-1;
        sum += count;
    }
    return (void *)(intptr_t)sum;
}

static void send_big(bool nonblocking)
{
    int fds[2];
    struct uw_operation send = {.opcode = UW_SEND, .data = big_bytes(), .length = BIG_BYTES};
    pthread_t reader;
    void *sum;

    make_pair(fds);
    if (nonblocking)
        set_nonblocking(fds[0]);
    send.fd = fds[0];
    run_into_waiting(&send);
    CHECK_EQUAL(0, pthread_create(&reader, NULL, read_all, &fds[1]));
    turn_until(&results, results + 1);
    CHECK_EQUAL(BIG_BYTES, last_result);
    CHECK_EQUAL(0, shutdown(fds[0], SHUT_WR));
    CHECK_EQUAL(0, pthread_join(reader, &sum));
    CHECK_EQUAL(BIG_BYTES, (intptr_t)sum);
    free(send.data);
    close_pair(fds);
}

CONTRACT(sends_all_to_a_slow_reader)
{
    send_big(false);
    send_big(true);
}

static void *write_all(void *argument)
{
    int fd = *(int *)argument;
    unsigned char *bytes = big_bytes();
    long sent = 0;
    ssize_t count = 0;

    while (sent < BIG_BYTES && (count = write(fd, bytes + sent, (size_t)(BIG_BYTES - sent))) > 0)
        sent += count;
    CHECK_EQUAL(0, shutdown(fd, SHUT_WR));
    free(bytes);
    return (void *)(intptr_t)sent;
}

static void check_bytes(struct uw_loop *on, struct uw_operation *operation, int32_t result)
{
    const unsigned char *bytes = operation->data;
    int32_t wrong = 0;

    for (int32_t i = 0; i < result; i++)
        wrong += bytes[i] != byte_at(total + i);
    CHECK_EQUAL(0, wrong);
    note(on, operation, result);
}

CONTRACT(receives_all_from_a_fast_writer)
{
    int fds[2];
    struct uw_operation receive = {.opcode = UW_RECEIVE, .complete = check_bytes};
    pthread_t writer;
    void *sum;

    make_pair(fds);
    receive.fd = fds[0];
    uw_submit(&loop, &receive);
    CHECK_EQUAL(0, pthread_create(&writer, NULL, write_all, &fds[1]));
    turn_until(&total, BIG_BYTES);
    CHECK_EQUAL(0, pthread_join(writer, &sum));
    turn_until(&results, results + receive.pending);
    CHECK(last_result == 0 && !receive.pending && (intptr_t)sum == BIG_BYTES);
    close_pair(fds);
}

CONTRACT(sending_to_nobody_is_an_error_and_no_signal)
{
    int fds[2];
    struct uw_operation send = {.opcode = UW_SEND, .data = "x", .length = 1};

    make_pair(fds);
    send.fd = fds[0];
    CHECK_EQUAL(1, run(&send));
    CHECK_EQUAL(0, close(fds[1]));
    run(&send);
    CHECK(last_result == -EPIPE || last_result == -ECONNRESET);
    CHECK_EQUAL(-EPIPE, run(&send));
    CHECK_EQUAL(0, uw_close(&loop, fds[0]));
}

CONTRACT(a_peer_that_leaves_ends_a_send)
{
    int fds[2];
    struct uw_operation send = {.opcode = UW_SEND, .data = big_bytes(), .length = BIG_BYTES};

    make_pair(fds);
    send.fd = fds[0];
    run_into_waiting(&send);
    CHECK_EQUAL(0, close(fds[1]));
    turn_until(&results, 1);
    CHECK(last_result == -EPIPE || last_result == -ECONNRESET);
    CHECK_EQUAL(0, uw_close(&loop, fds[0]));
    free(send.data);
}

/* Two for each pair, where the usual limit is lower. */
static void allow_descriptors(void)
{
    struct rlimit limit;

    CHECK_EQUAL(0, getrlimit(RLIMIT_NOFILE, &limit));
    limit.rlim_cur = limit.rlim_max;
    CHECK_EQUAL(0, setrlimit(RLIMIT_NOFILE, &limit));
}

struct player {
    struct uw_operation receive, send;
    int left; /* to send */
};

static struct player players[PAIRS][2];
static int received;

static void answer(struct uw_loop *on, struct uw_operation *operation, int32_t result)
{
    struct player *player = uw_container_of(operation, struct player, receive);

    note(on, operation, result);
    if (result <= 0)
        return;
    CHECK(result == 4 && memcmp(operation->data, "ball", 4) == 0);
    received++;
    CHECK(!player->send.pending || player->left == 0);
    if (player->left-- > 0)
        uw_submit(on, &player->send);
}

CONTRACT(a_thousand_pairs_play)
{
    allow_descriptors();
    received = 0;
    for (int i = 0; i < PAIRS; i++) {
        int fds[2];

        make_pair(fds);
        for (int side = 0; side < 2; side++)
            players[i][side] = (struct player){
                .receive = {.opcode = UW_RECEIVE, .fd = fds[side], .complete = answer},
                .send = {.opcode = UW_SEND, .fd = fds[side], .complete = note, .data = "ball", .length = 4},
                .left = ROUNDS - (side == 0),
            };
        uw_submit(&loop, &players[i][0].receive);
        uw_submit(&loop, &players[i][1].receive);
        uw_submit(&loop, &players[i][0].send); /* the first service */
    }
    turn_until(&received, PAIRS * ROUNDS * 2);
    for (int i = 0; i < PAIRS; i++)
        for (int side = 0; side < 2; side++)
            uw_cancel(&loop, &players[i][side].receive);
    turn_until(&results, PAIRS * 2 * (2 * ROUNDS + 1));
    for (int i = 0; i < PAIRS; i++)
        for (int side = 0; side < 2; side++) {
            CHECK(!players[i][side].receive.pending && !players[i][side].send.pending);
            CHECK_EQUAL(0, uw_close(&loop, players[i][side].receive.fd));
        }
    CHECK_EQUAL(PAIRS * ROUNDS * 2, received);
}

CONTRACT(a_number_is_used_again)
{
    int first = -1;

    for (int i = 0; i < 20; i++) {
        int fds[2];
        struct uw_operation receive = {.opcode = UW_RECEIVE, .complete = note};

        make_pair(fds);
        first = first < 0 ? fds[0] : first;
        CHECK_EQUAL(first, fds[0]);
        receive.fd = fds[0];
        results = 0;
        uw_submit(&loop, &receive);
        CHECK_EQUAL(1, write(fds[1], "x", 1));
        turn_until(&results, 1);
        CHECK_EQUAL(1, last_result);
        CHECK_EQUAL(-ECANCELED, cancel(&receive));
        close_pair(fds);
    }
}

#define GATHERED 3

/* Several streams at once have a gathering loop wait for several; when only one comes, it does not have to wait for the
 * others. */
CONTRACT(a_gathering_loop_takes_what_has_come)
{
    struct uw_operation receives[GATHERED];
    int fds[GATHERED][2];
    int64_t begin;

    loop.gather_max = GATHERED;
    for (int i = 0; i < GATHERED; i++) {
        make_pair(fds[i]);
        receives[i] = (struct uw_operation){.opcode = UW_RECEIVE, .fd = fds[i][0], .complete = note};
        uw_submit(&loop, &receives[i]);
    }
    CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    for (int i = 0; i < GATHERED; i++)
        CHECK_EQUAL(1, write(fds[i][1], "x", 1));
    turn_until(&results, GATHERED);
    CHECK_EQUAL(1, write(fds[0][1], "x", 1));
    begin = uw_clock_ns();
    turn_until(&results, GATHERED + 1);
    CHECK(uw_clock_ns() - begin < PATIENCE_NS / 2);
    for (int i = 0; i < GATHERED; i++) {
        CHECK_EQUAL(-ECANCELED, cancel(&receives[i]));
        close_pair(fds[i]);
    }
}

CONTRACT_MAIN
