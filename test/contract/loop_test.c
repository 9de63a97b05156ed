/* Timers, waking, posting, cancelling, errors and closing. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "backend_contract.h"

#define POSTERS 4
#define POSTS 10000
#define LATE_NS (30 * UW_NS_PER_SECOND) /* for a machine that is busy with something else */

static struct uw_timer *order[4];

static void remember(struct uw_loop *on, struct uw_timer *timer)
{
    CHECK(timer->deadline_ns <= uw_clock_ns());
    CHECK(uw_clock_ns() < timer->deadline_ns + LATE_NS);
    CHECK(on == &loop);
    order[results++] = timer;
}

CONTRACT(timers_come_in_order_and_in_time)
{
    struct uw_timer timers[4] = {0};
    int64_t begin = uw_clock_ns();

    loop.expire = remember;
    for (int i = 0; i < 4; i++)
        uw_timer_start(&loop, &timers[i], begin + (4 - i) * 3 * UW_NS_PER_MS);
    uw_timer_stop(&loop, &timers[1]);
    turn_until(&results, 3);
    CHECK(order[0] == &timers[3] && order[1] == &timers[2] && order[2] == &timers[0]);
    CHECK_EQUAL(0, uw_loop_turn(&loop, 20 * UW_NS_PER_MS));
    CHECK_EQUAL(3, results);
}

static int own_expiries;

static void expired_for_itself(struct uw_loop *on, struct uw_timer *timer)
{
    CHECK(on == &loop && !timer->active);
    own_expiries++;
}

CONTRACT(a_timer_may_have_a_function_of_its_own)
{
    struct uw_timer common = {.active = false}, own = {.expire = expired_for_itself};

    own_expiries = 0;
    uw_timer_start(&loop, &own, uw_clock_ns());
    uw_timer_start(&loop, &common, uw_clock_ns());
    turn_until(&results, 1);
    turn_until(&own_expiries, 1);
    CHECK(results == 1 && own_expiries == 1);
}

CONTRACT(a_timer_of_the_past_comes_in_the_next_turn)
{
    struct uw_timer timer = {0};

    uw_timer_start(&loop, &timer, 1);
    CHECK_EQUAL(0, uw_loop_turn(&loop, PATIENCE_NS));
    CHECK_EQUAL(1, results);
}

#define CLIENTS 700 /* more than any backend tells at once */
#define ALLOWED_NS (20 * UW_NS_PER_MS)

/* Waits for something to receive until a deadline, as a server does. */
static struct client {
    struct uw_operation receive;
    struct uw_timer deadline;
    int pair[2];
} clients[CLIENTS];
static int served, timed_out;

static void serve(struct uw_loop *on, struct uw_operation *operation, int32_t result)
{
    struct client *client = uw_container_of(operation, struct client, receive);

    if (result > 0) {
        served += client->deadline.active;
        uw_timer_stop(on, &client->deadline);
    }
}

static void time_out(struct uw_loop *on, struct uw_timer *timer)
{
    (void)on;
    (void)timer;
    timed_out++;
}

static void allow_descriptors(rlim_t count)
{
    struct rlimit limit;

    CHECK_EQUAL(0, getrlimit(RLIMIT_NOFILE, &limit));
    if (limit.rlim_cur < count)
        limit.rlim_cur = count;
    CHECK_EQUAL(0, setrlimit(RLIMIT_NOFILE, &limit));
}

static void connect_clients(int count)
{
    allow_descriptors(2 * CLIENTS + 100);
    served = timed_out = 0;
    for (struct client *client = clients; client < clients + count; client++) {
        *client = (struct client){.deadline.expire = time_out};
        make_pair(client->pair);
        client->receive = (struct uw_operation){.opcode = UW_RECEIVE, .fd = client->pair[0], .complete = serve};
        uw_submit(&loop, &client->receive);
    }
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
}

static void start_deadlines(int count)
{
    for (struct client *client = clients; client < clients + count; client++)
        uw_timer_start(&loop, &client->deadline, uw_clock_ns() + ALLOWED_NS);
}

static void cancel_clients(int count)
{
    for (struct client *client = clients; client < clients + count; client++)
        uw_cancel(&loop, &client->receive);
    for (struct client *client = clients; client < clients + count; client++)
        while (client->receive.pending)
            CHECK_EQUAL(0, uw_loop_turn(&loop, PATIENCE_NS));
}

static void disconnect_clients(int count)
{
    cancel_clients(count);
    for (struct client *client = clients; client < clients + count; client++)
        close_pair(client->pair);
}

static void send_from_clients(int count)
{
    for (int i = 0; i < count; i++)
        if (write(clients[i].pair[1], "a", 1) != 1)
            abort();
}

static void sleep_beyond_deadlines(void)
{
    static const struct timespec long_enough = {.tv_nsec = 2 * ALLOWED_NS};

    (void)nanosleep(&long_enough, NULL);
}

CONTRACT(what_came_before_a_late_turn_is_told_before_deadlines_pass)
{
    struct client *last = &clients[CLIENTS - 1];

    connect_clients(CLIENTS);
    start_deadlines(CLIENTS);
    send_from_clients(CLIENTS - 1);
    sleep_beyond_deadlines();
    turn_until(&timed_out, 1);
    CHECK_EQUAL(CLIENTS - 1, served);
    CHECK(timed_out == 1 && !last->deadline.active); /* who has sent nothing */
    disconnect_clients(CLIENTS);
}

/* Nobody is wronged by it: there is no need to look whether all has been told. */
CONTRACT(a_late_turn_does_not_look_on_for_a_harmless_timer)
{
    connect_clients(2);
    clients[0].deadline.check_only = true;
    uw_timer_start(&loop, &clients[0].deadline, uw_clock_ns() + ALLOWED_NS);
    sleep_beyond_deadlines();
    CHECK_EQUAL(0, uw_loop_turn(&loop, PATIENCE_NS));
    CHECK(timed_out == 1 && !loop.overdue);
    clients[0].deadline.check_only = false;
    start_deadlines(2);
    clients[1].deadline.check_only = true;
    sleep_beyond_deadlines();
    CHECK_EQUAL(0, uw_loop_turn(&loop, PATIENCE_NS));
    CHECK(timed_out == 3 && loop.overdue);
    disconnect_clients(2);
}

CONTRACT(so_is_what_a_stream_brings_that_is_polled_first)
{
    char byte;

    connect_clients(1);
    cancel(&clients[0].receive);
    clients[0].receive = (struct uw_operation){
        .opcode = UW_READ, .fd = clients[0].pair[0], .data = &byte, .length = 1, .offset = -1, .complete = serve};
    uw_submit(&loop, &clients[0].receive);
    CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    start_deadlines(1);
    send_from_clients(1);
    sleep_beyond_deadlines();
    while (!served && !timed_out)
        CHECK_EQUAL(0, uw_loop_turn(&loop, PATIENCE_NS));
    CHECK(served == 1 && !timed_out);
    disconnect_clients(1);
}

static void be_away(int number)
{
    CHECK_EQUAL(SIGALRM, number);
    send_from_clients(1);
    sleep_beyond_deadlines();
}

/* As when a process is stopped, and goes on. However slow this machine is, it hears the signal before the deadline. */
CONTRACT(what_came_during_an_interruption_is_told_before_deadlines_pass)
{
    struct sigaction action = {.sa_handler = be_away};
    struct itimerval soon = {.it_value.tv_usec = ALLOWED_NS / UW_NS_PER_US / 4};

    connect_clients(1);
    CHECK_EQUAL(0, sigaction(SIGALRM, &action, NULL));
    CHECK_EQUAL(0, setitimer(ITIMER_REAL, &soon, NULL));
    start_deadlines(1);
    while (!served && !timed_out)
        CHECK_EQUAL(0, uw_loop_turn(&loop, PATIENCE_NS));
    CHECK(served == 1 && !timed_out);
    disconnect_clients(1);
}

static void ignore_result(struct uw_loop *on, struct uw_operation *operation, int32_t result)
{
    (void)on;
    (void)operation;
    (void)result;
}

/* Descriptors that are always ready: there is no end of results. */
CONTRACT(a_flood_of_results_keeps_no_timer_from_expiring)
{
    struct uw_timer timer = {.expire = time_out};

    connect_clients(CLIENTS);
    cancel_clients(CLIENTS);
    for (struct client *client = clients; client < clients + CLIENTS; client++) {
        client->receive = (struct uw_operation){
            .opcode = UW_WATCH, .fd = client->pair[0], .length = POLLOUT, .complete = ignore_result};
        uw_submit(&loop, &client->receive);
    }
    uw_timer_start(&loop, &timer, 1);
    CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    CHECK_EQUAL(1, timed_out);
    disconnect_clients(CLIENTS);
}

static int64_t time_turn(int64_t wait_ns)
{
    int64_t begin = uw_clock_ns();

    CHECK_EQUAL(0, uw_loop_turn(&loop, wait_ns));
    return uw_clock_ns() - begin;
}

/* A signal may end a wait early, so any of some may last as long as asked; none may last longer. */
CONTRACT(a_turn_waits_as_long_as_asked)
{
    int64_t waited = time_turn(0);

    CHECK(waited < LATE_NS);
    for (int i = 0; i < 50 && waited < 20 * UW_NS_PER_MS; i++)
        waited = time_turn(20 * UW_NS_PER_MS);
    CHECK(waited >= 20 * UW_NS_PER_MS && waited < 20 * UW_NS_PER_MS + LATE_NS);
}

static void *wake(void *argument)
{
    (void)argument;
    uw_loop_wake(&loop);
    return NULL;
}

CONTRACT(another_thread_wakes_a_wait)
{
    for (int i = 0; i < 10; i++) {
        int64_t begin = uw_clock_ns();
        pthread_t thread;

        CHECK_EQUAL(0, pthread_create(&thread, NULL, wake, NULL));
        CHECK_EQUAL(0, uw_loop_turn(&loop, PATIENCE_NS));
        CHECK(uw_clock_ns() - begin < PATIENCE_NS);
        CHECK_EQUAL(0, pthread_join(thread, NULL));
    }
}

static struct uw_message messages[POSTERS][POSTS];
static int received[POSTERS];

static void on_message(struct uw_loop *on, struct uw_message *message)
{
    int poster = (int)((message - &messages[0][0]) / POSTS);

    CHECK(on == &loop);
    CHECK(message == &messages[poster][received[poster]]); /* in order */
    received[poster]++;
    total++;
}

static void *post_all(void *argument)
{
    struct uw_message *mine = argument;

    for (int i = 0; i < POSTS; i++) {
        mine[i].receive = on_message;
        uw_loop_post(&loop, &mine[i]);
    }
    return NULL;
}

CONTRACT(no_posted_message_is_lost)
{
    int64_t begin = uw_clock_ns();
    pthread_t threads[POSTERS];

    memset(received, 0, sizeof received);
    for (int i = 0; i < POSTERS; i++)
        CHECK_EQUAL(0, pthread_create(&threads[i], NULL, post_all, messages[i]));
    turn_until(&total, POSTERS * POSTS);
    CHECK(uw_clock_ns() - begin < PATIENCE_NS); /* or a wake-up was lost */
    for (int i = 0; i < POSTERS; i++)
        CHECK_EQUAL(0, pthread_join(threads[i], NULL));
    CHECK_EQUAL(POSTERS * POSTS, total);
}

static void fail_later(enum uw_io_opcode opcode, int bad_fd)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    struct uw_operation operation = {.opcode = (uint8_t)opcode,
                                     .fd = bad_fd,
                                     .complete = note,
                                     .data = &address,
                                     .length = opcode == UW_POLL || opcode == UW_WATCH ? POLLIN : sizeof address,
                                     .offset = -1};

    results = 0;
    uw_submit(&loop, &operation);
    CHECK_EQUAL(0, results);
    turn_until(&results, 1);
    CHECK_EQUAL(-EBADF, last_result);
    CHECK(!operation.pending);
}

CONTRACT(failures_are_told_later)
{
    static const enum uw_io_opcode verbs[] = {UW_ACCEPT, UW_RECEIVE, UW_SEND, UW_READ,
                                              UW_WRITE,  UW_CONNECT, UW_POLL, UW_WATCH};
    int closed = dup(0);

    CHECK_EQUAL(0, close(closed));
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        fail_later(verbs[i], closed);
        fail_later(verbs[i], -1);
    }
}

/* One operation of each opcode, none of which can end by itself. */
struct endless {
    struct uw_operation accept, receive, send, read, write, connect, poll;
    struct sockaddr_in address;
    int listener, full_listener, queued, pair[2], in[2], out[2];
};

static char bytes[4 * 1024 * 1024], buffer[16];

/* Its queue holds one connection, and that is there: the next one waits. */
static void make_full_listener(struct endless *all)
{
    all->full_listener = listen_at(&all->address, 0);
    all->queued = connect_to(&all->address);
}

static void fill_pipe(int fd)
{
    set_nonblocking(fd);
    FILL(write(fd, bytes, 4096));
}

static void make_endless(struct endless *all)
{
    struct sockaddr_in any = {0};

    *all = (struct endless){.listener = listen_at(&any, 1)};
    make_full_listener(all);
    make_pair(all->pair);
    CHECK(pipe2(all->in, O_CLOEXEC) == 0 && pipe2(all->out, O_CLOEXEC) == 0);
    fill_pipe(all->out[1]);
    all->accept = (struct uw_operation){.opcode = UW_ACCEPT, .fd = all->listener};
    all->receive = (struct uw_operation){.opcode = UW_RECEIVE, .fd = all->pair[0]};
    all->send = (struct uw_operation){.opcode = UW_SEND, .fd = all->pair[0], .data = bytes, .length = sizeof bytes};
    all->read = (struct uw_operation){.opcode = UW_READ, .fd = all->in[0], .data = buffer, .length = 1, .offset = -1};
    all->write = (struct uw_operation){.opcode = UW_WRITE, .fd = all->out[1], .data = bytes, .length = 1, .offset = -1};
    all->connect = (struct uw_operation){.opcode = UW_CONNECT,
                                         .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
                                         .data = &all->address,
                                         .length = sizeof all->address};
    all->poll = (struct uw_operation){.opcode = UW_POLL, .fd = all->in[0], .length = POLLIN};
}

/* Its operations follow one another from the first to the last. */
static void start_endless(struct endless *all)
{
    for (struct uw_operation *operation = &all->accept; operation <= &all->poll; operation++)
        run_into_waiting(operation);
}

static void close_endless(struct endless *all)
{
    close(all->listener);
    close(all->full_listener);
    close(all->queued);
    close(all->connect.fd);
    for (int i = 0; i < 2; i++) {
        close(all->pair[i]);
        close(all->in[i]);
        close(all->out[i]);
    }
}

CONTRACT(every_verb_can_be_cancelled)
{
    struct endless all;
    int before;

    make_endless(&all);
    start_endless(&all);
    for (struct uw_operation *operation = &all.accept; operation <= &all.poll; operation++) {
        before = results;
        CHECK_EQUAL(-ECANCELED, cancel(operation));
        CHECK_EQUAL(before + 1, results); /* only this one, and once */
        uw_cancel(&loop, operation);      /* does nothing any more */
    }
    before = results;
    CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    CHECK_EQUAL(before, results);
    close_endless(&all);
}

CONTRACT(closing_ends_what_is_pending)
{
    static struct endless all; /* outlives this function, as the loop does */

    make_endless(&all);
    start_endless(&all);
    close_endless(&all);
}

/* -1: another listens there. */
static int listen_again(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (bind(fd, (const struct sockaddr *)address, sizeof *address) == 0 && listen(fd, 1) == 0)
        return fd;
    CHECK_EQUAL(0, close(fd));
    return -1;
}

CONTRACT(closing_gives_the_address_back)
{
    struct sockaddr_in address = {0};
    int fd = listen_at(&address, 1), taken = 0;

    for (int i = 0; i < 20; i++) {
        struct uw_operation accept = {.opcode = UW_ACCEPT, .fd = fd};

        run_into_waiting(&accept);
        uw_loop_close(&loop);
        CHECK_EQUAL(0, close(fd));
        CHECK(open_loop());
        fd = listen_again(&address);
        if (fd < 0) {
            taken++;
            address = (struct sockaddr_in){0};
            fd = listen_at(&address, 1);
        }
    }
    CHECK(taken < 5); /* by others, of all ports of this machine */
    CHECK_EQUAL(0, close(fd));
}

CONTRACT(an_unknown_backend_is_refused)
{
    struct uw_loop other;

    CHECK_EQUAL(-ENOENT, uw_loop_open(&other, "devpoll", expired));
}

CONTRACT(a_probe_says_that_it_works)
{
    CHECK_EQUAL(0, uw_backend_probe(uw_backend_find(backend_name)));
}

CONTRACT_MAIN
