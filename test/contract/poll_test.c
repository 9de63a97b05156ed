/* Polling and watching. */
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "backend_contract.h"

#define SHORT_NS (20 * UW_NS_PER_MS)
#define TURNS_MAX 200 /* in that time, by a loop that does not spin */

CONTRACT(polls_for_reading)
{
    int fds[2];
    struct uw_operation in = {.opcode = UW_POLL, .length = POLLIN};

    make_pair(fds);
    in.fd = fds[0];
    run_into_waiting(&in);
    CHECK_EQUAL(1, write(fds[1], "x", 1));
    turn_until(&results, 1);
    CHECK_EQUAL(POLLIN, last_result);
    CHECK_EQUAL(POLLIN, run(&in)); /* still readable */
    close_pair(fds);
}

static void fill_socket(int fd)
{
    static const char bytes[4096];

    FILL(send(fd, bytes, sizeof bytes, MSG_DONTWAIT));
    CHECK_EQUAL(EAGAIN, errno);
}

static void empty_socket(int fd)
{
    static char bytes[65536];

    while (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        continue;
}

CONTRACT(polls_for_writing)
{
    int fds[2];
    struct uw_operation out = {.opcode = UW_POLL, .length = POLLOUT};

    make_pair(fds);
    out.fd = fds[0];
    CHECK_EQUAL(POLLOUT, run(&out));
    fill_socket(fds[0]);
    run_into_waiting(&out);
    empty_socket(fds[1]);
    turn_until(&results, 2);
    CHECK_EQUAL(POLLOUT, last_result);
    close_pair(fds);
}

static void turn_for(int64_t nanoseconds)
{
    int64_t end_ns = uw_clock_ns() + nanoseconds;

    while (uw_clock_ns() < end_ns)
        CHECK_EQUAL(0, uw_loop_turn(&loop, end_ns - uw_clock_ns()));
}

/* Who says no more may yet be slow to read. */
static void wait_for_room_behind_an_end(struct uw_operation *operation, int32_t expected)
{
    int fds[2];

    make_pair(fds);
    operation->fd = fds[0];
    operation->complete = note;
    set_nonblocking(fds[0]);
    CHECK_EQUAL(0, shutdown(fds[1], SHUT_WR));
    fill_socket(fds[0]);
    uw_submit(&loop, operation);
    turn_for(SHORT_NS);
    CHECK(operation->pending && results == 0 && loop.turns < TURNS_MAX);
    empty_socket(fds[1]);
    turn_until(&results, 1);
    CHECK_EQUAL(expected, last_result & ~POLLRDHUP);
    fill_socket(fds[0]);
    uw_submit(&loop, operation);
    turn_for(SHORT_NS);
    CHECK_EQUAL(-ECANCELED, cancel(operation));
    results = 0;
    close_pair(fds);
}

CONTRACT(polls_for_room_at_an_end_of_the_stream)
{
    struct uw_operation out = {.opcode = UW_POLL, .length = POLLOUT};

    wait_for_room_behind_an_end(&out, POLLOUT);
}

CONTRACT(writes_wait_for_room_at_an_end_of_the_stream)
{
    struct uw_operation write = {.opcode = UW_WRITE, .data = "x", .length = 1, .offset = -1};

    wait_for_room_behind_an_end(&write, 1);
}

CONTRACT(files_wait_for_room_at_an_end_of_the_stream)
{
    struct uw_operation send = {
        .opcode = UW_SEND_FILE, .length = 1, .file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)};

    wait_for_room_behind_an_end(&send, 1);
    CHECK_EQUAL(0, close(send.file));
}

CONTRACT(polls_for_both_at_once)
{
    int fds[2];
    struct uw_operation in = {.opcode = UW_POLL, .length = POLLIN, .complete = note};
    struct uw_operation both = {.opcode = UW_POLL, .length = POLLIN | POLLOUT, .complete = note};

    make_pair(fds);
    in.fd = both.fd = fds[0];
    fill_socket(fds[0]);
    uw_submit(&loop, &in);
    run_into_waiting(&both);
    empty_socket(fds[1]);
    turn_until(&results, 1);
    CHECK(last_result == POLLOUT && in.pending && !both.pending);
    CHECK_EQUAL(1, write(fds[1], "x", 1));
    turn_until(&results, 2);
    CHECK(last_result == POLLIN && !in.pending);
    close_pair(fds);
}

CONTRACT(polls_tell_of_a_hangup)
{
    int fds[2];
    struct uw_operation in = {.opcode = UW_POLL, .length = POLLIN};
    struct uw_operation out = {.opcode = UW_POLL, .length = POLLOUT};

    CHECK_EQUAL(0, pipe2(fds, O_CLOEXEC));
    in.fd = fds[0];
    run_into_waiting(&in);
    CHECK_EQUAL(0, close(fds[1]));
    turn_until(&results, 1);
    CHECK(last_result & POLLHUP);
    CHECK_EQUAL(0, uw_close(&loop, fds[0]));

    CHECK_EQUAL(0, pipe2(fds, O_CLOEXEC));
    out.fd = fds[1];
    CHECK_EQUAL(0, close(fds[0]));
    CHECK(run(&out) & POLLERR);
    CHECK_EQUAL(0, uw_close(&loop, fds[1]));
}

/* Of which some systems refuse one half, and say so. */
CONTRACT(a_pipe_without_reader_that_was_watched_wakes_nobody)
{
    int fds[2];
    struct uw_operation watch = {.opcode = UW_WATCH, .length = POLLIN | POLLOUT, .complete = note};

    CHECK_EQUAL(0, pipe2(fds, O_CLOEXEC));
    CHECK_EQUAL(0, close(fds[0]));
    watch.fd = fds[1];
    uw_submit(&loop, &watch);
    turn_until(&results, 1);
    CHECK(last_result == -EPIPE || last_result & POLLERR);
    if (watch.pending)
        cancel(&watch);
    loop.turns = 0;
    turn_for(SHORT_NS);
    CHECK(loop.turns < TURNS_MAX);
    CHECK_EQUAL(0, uw_close(&loop, fds[1]));
}

/* Who sends no more may yet read: no hang-up, and the last byte comes before it. */
CONTRACT(polls_tell_of_an_end_that_is_no_hangup)
{
    int fds[2];
    char byte;
    struct uw_operation in = {.opcode = UW_POLL, .length = POLLIN};

    make_pair(fds);
    in.fd = fds[0];
    run_into_waiting(&in);
    CHECK_EQUAL(1, write(fds[1], "x", 1));
    CHECK_EQUAL(0, shutdown(fds[1], SHUT_WR));
    turn_until(&results, 1);
    CHECK_EQUAL(POLLIN, last_result & ~POLLRDHUP);
    CHECK_EQUAL(1, read(fds[0], &byte, 1));
    CHECK_EQUAL(POLLIN, run(&in) & ~POLLRDHUP);
    CHECK_EQUAL(0, read(fds[0], &byte, 1));
    CHECK_EQUAL(1, send(fds[0], "x", 1, MSG_NOSIGNAL));
    close_pair(fds);
}

static bool tells_of_urgent_data(void)
{
#ifdef __FreeBSD__
    return strcmp(backend_name, "kqueue") != 0;
#else
    return true;
#endif
}

/* Of TCP: only there is data urgent. */
static void make_tcp_pair(int fds[2])
{
    struct sockaddr_in address = {0};
    int listener = listen_at(&address, 1);

    fds[1] = connect_to(&address);
    fds[0] = accept(listener, NULL, NULL);
    CHECK_EQUAL(0, close(listener));
}

CONTRACT(polls_for_urgent_data)
{
    int fds[2];
    struct uw_operation urgent = {.opcode = UW_POLL, .length = POLLPRI};

    make_tcp_pair(fds);
    urgent.fd = fds[0];
    if (!tells_of_urgent_data()) {
        CHECK_EQUAL(-EOPNOTSUPP, run(&urgent));
        close_pair(fds);
        return;
    }
    run_into_waiting(&urgent);
    CHECK_EQUAL(1, write(fds[1], "x", 1));
    turn_for(SHORT_NS);
    CHECK(urgent.pending);
    CHECK_EQUAL(1, send(fds[1], "!", 1, MSG_OOB));
    turn_until(&results, 1);
    CHECK_EQUAL(POLLPRI, last_result & ~POLLRDBAND);
    close_pair(fds);
}

/* Who sends no more may yet read: that is no event for who waits for urgent data alone. The end of all is. */
CONTRACT(polls_for_urgent_data_outlast_an_end_of_the_stream)
{
    static const struct linger none = {.l_onoff = 1};
    struct uw_operation urgent = {.opcode = UW_POLL, .length = POLLPRI};
    int fds[2];

    if (!tells_of_urgent_data())
        SKIP("kqueue of FreeBSD does not tell of urgent data");
    make_tcp_pair(fds);
    urgent.fd = fds[0];
    run_into_waiting(&urgent);
    CHECK_EQUAL(0, shutdown(fds[1], SHUT_WR));
    turn_for(SHORT_NS);
    CHECK(urgent.pending && results == 0 && loop.turns < TURNS_MAX);
    CHECK_EQUAL(0, setsockopt(fds[1], SOL_SOCKET, SO_LINGER, &none, sizeof none));
    CHECK_EQUAL(0, close(fds[1])); /* with a reset */
    turn_until(&results, 1);
    CHECK(last_result & POLLHUP);
    CHECK_EQUAL(0, uw_close(&loop, fds[0]));
}

/* The descriptors of an application are closed by itself: the loop learns nothing of it. */
CONTRACT(polls_a_number_that_was_closed_elsewhere)
{
    int first = -1;

    for (int i = 1; i <= 5; i++) {
        int fds[2];
        struct uw_operation in = {.opcode = UW_POLL, .length = POLLIN};

        make_pair(fds);
        first = first < 0 ? fds[0] : first;
        CHECK_EQUAL(first, fds[0]);
        in.fd = fds[0];
        run_into_waiting(&in);
        CHECK_EQUAL(1, write(fds[1], "x", 1));
        turn_until(&results, i);
        CHECK_EQUAL(POLLIN, last_result);
        CHECK_EQUAL(0, close(fds[0]));
        CHECK_EQUAL(0, close(fds[1]));
    }
}

/* Likewise when it was closed with a poll pending. */
CONTRACT(polls_a_number_that_was_closed_while_it_was_polled)
{
    int fds[2];
    struct uw_operation gone = {.opcode = UW_POLL, .length = POLLIN}, in = {.opcode = UW_POLL, .length = POLLIN};

    make_pair(fds);
    gone.fd = fds[0];
    run_into_waiting(&gone);
    CHECK_EQUAL(0, close(fds[1]));
    CHECK_EQUAL(0, close(fds[0]));
    make_pair(fds);
    CHECK_EQUAL(gone.fd, fds[0]);
    in.fd = fds[0];
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(1, write(fds[1], "x", 1));
        CHECK(run(&in) & POLLIN);
    }
    if (gone.pending)
        cancel(&gone);
    CHECK_EQUAL(0, close(fds[1]));
    CHECK_EQUAL(0, uw_close(&loop, fds[0]));
}

/* Ruby 4.0 closes descriptors with uw_close, whoever selects them. */
CONTRACT(cancels_a_poll_whose_number_was_closed)
{
    int fds[2];
    struct uw_operation in = {.opcode = UW_POLL, .length = POLLIN}, out = {.opcode = UW_POLL, .length = POLLOUT};

    make_pair(fds);
    in.fd = out.fd = fds[0];
    fill_socket(fds[0]);
    run_into_waiting(&in);
    run_into_waiting(&out);
    CHECK_EQUAL(0, uw_close(&loop, fds[0]));
    CHECK(cancel(&in) < 0);
    if (out.pending)
        (void)cancel(&out);
    CHECK_EQUAL(2, results);
    CHECK(last_result < 0);
    CHECK_EQUAL(0, uw_close(&loop, fds[1]));
}

static void close_it(struct uw_loop *on, struct uw_operation *operation, int32_t result)
{
    results++;
    CHECK_EQUAL(POLLIN, result & POLLIN);
    CHECK_EQUAL(0, uw_close(on, operation->fd));
}

static void count(struct uw_loop *on, struct uw_operation *operation, int32_t result)
{
    int *told = operation->data;

    CHECK(on == &loop && !operation->pending);
    (void)result;
    (*told)++;
}

CONTRACT(whoever_closes_in_a_callback_ends_the_others_once)
{
    int fds[2], told[3] = {0};
    struct uw_operation first = {.opcode = UW_POLL, .length = POLLIN, .complete = close_it}, others[3];

    make_pair(fds);
    fill_socket(fds[0]);
    first.fd = fds[0];
    uw_submit(&loop, &first);
    for (int i = 0; i < 3; i++) {
        others[i] = (struct uw_operation){
            .opcode = UW_POLL, .fd = fds[0], .length = i < 2 ? POLLIN : POLLOUT, .complete = count, .data = &told[i]};
        uw_submit(&loop, &others[i]);
    }
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    CHECK_EQUAL(1, write(fds[1], "x", 1));
    empty_socket(fds[1]);
    turn_until(&results, 1);
    for (int i = 0; i < 3; i++)
        uw_cancel(&loop, &others[i]);
    for (int i = 0; i < 3; i++) {
        turn_until(&told[i], 1);
        CHECK_EQUAL(1, told[i]);
    }
    CHECK_EQUAL(0, uw_loop_operations(&loop));
    CHECK_EQUAL(0, uw_close(&loop, fds[1]));
}

static struct uw_operation next_connection;

/* Its number is given to a connection at once, which nobody accepts. */
static void connect_instead(struct uw_loop *on, struct uw_operation *operation, int32_t result)
{
    close_it(on, operation, result);
    next_connection.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_EQUAL(operation->fd, next_connection.fd);
    uw_submit(on, &next_connection);
}

CONTRACT(an_event_is_not_told_of_what_has_the_number_next)
{
    struct sockaddr_in address = {0};
    int fds[2], told = 0, full = listen_at(&address, 0), queued = connect_to(&address);
    struct uw_operation in = {.opcode = UW_POLL, .length = POLLIN, .complete = connect_instead};
    struct uw_operation out = {.opcode = UW_POLL, .length = POLLOUT, .complete = count, .data = &told};

    next_connection =
        (struct uw_operation){.opcode = UW_CONNECT, .data = &address, .length = sizeof address, .complete = note};
    make_pair(fds);
    fill_socket(fds[0]);
    in.fd = out.fd = fds[0];
    uw_submit(&loop, &in);
    uw_submit(&loop, &out);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    CHECK_EQUAL(0, close(fds[1]));
    turn_until(&results, 1);
    uw_cancel(&loop, &out);
    turn_until(&told, 1);
    CHECK(next_connection.pending && results == 1);
    CHECK_EQUAL(-ECANCELED, cancel(&next_connection));
    CHECK_EQUAL(0, uw_close(&loop, next_connection.fd));
    CHECK(close(full) == 0 && close(queued) == 0);
}

CONTRACT(a_plain_file_is_always_ready)
{
    char path[] = "/tmp/upwell-contract-XXXXXX";
    struct uw_operation poll = {.opcode = UW_POLL, .fd = mkstemp(path), .length = POLLIN | POLLOUT};

    CHECK(poll.fd >= 0 && unlink(path) == 0);
    CHECK_EQUAL(POLLIN | POLLOUT, run(&poll) & (POLLIN | POLLOUT));
    CHECK_EQUAL(0, uw_close(&loop, poll.fd));
}

/* Turns until `operation` was told something once more. */
static int next_result(const struct uw_operation *operation)
{
    int before = results;

    turn_until(&results, before + 1);
    CHECK_EQUAL(before + 1, results);
    CHECK(operation->pending);
    return last_result;
}

static void check_silence(void)
{
    int before = results;

    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    CHECK_EQUAL(before, results);
}

CONTRACT(a_watch_tells_of_what_is_ready_in_every_turn)
{
    int fds[2];
    struct uw_operation watch = {.opcode = UW_WATCH, .length = POLLIN};

    make_pair(fds);
    watch.fd = fds[0];
    run_into_waiting(&watch);
    CHECK_EQUAL(1, write(fds[1], "x", 1));
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(POLLIN, next_result(&watch));
    empty_socket(fds[0]);
    if (strncmp(backend_name, "io_uring", 8) == 0) /* asked already, before it was emptied */
        CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    check_silence();
    CHECK_EQUAL(1, write(fds[1], "x", 1));
    CHECK_EQUAL(POLLIN, next_result(&watch));
    CHECK_EQUAL(-ECANCELED, cancel(&watch));
    close_pair(fds);
}

CONTRACT(a_watch_for_writing)
{
    int fds[2];
    struct uw_operation watch = {.opcode = UW_WATCH, .length = POLLOUT};

    make_pair(fds);
    watch.fd = fds[0];
    fill_socket(fds[0]);
    run_into_waiting(&watch);
    empty_socket(fds[1]);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(POLLOUT, next_result(&watch));
    CHECK_EQUAL(0, close(fds[1]));
    CHECK(next_result(&watch) & POLLHUP);
    CHECK_EQUAL(-ECANCELED, cancel(&watch));
    CHECK_EQUAL(0, uw_close(&loop, fds[0]));
}

CONTRACT(a_watch_beside_polls_of_the_same_descriptor)
{
    int fds[2];
    struct uw_operation watch = {.opcode = UW_WATCH, .length = POLLIN}, in = {.opcode = UW_POLL, .length = POLLIN};
    struct uw_operation out = {.opcode = UW_POLL, .length = POLLOUT};

    make_pair(fds);
    watch.fd = in.fd = out.fd = fds[0];
    run_into_waiting(&watch);
    run_into_waiting(&in);
    CHECK_EQUAL(POLLOUT, run(&out));
    CHECK(watch.pending && in.pending);
    CHECK_EQUAL(1, write(fds[1], "x", 1));
    turn_until(&results, 3);
    CHECK(watch.pending && !in.pending);
    CHECK_EQUAL(POLLIN, next_result(&watch));
    CHECK_EQUAL(-ECANCELED, cancel(&watch));
    close_pair(fds);
}

/* On epoll it ends with each result, on the others it does not. */
static void note_file(struct uw_loop *on, struct uw_operation *operation, int32_t result)
{
    CHECK(on == &loop && operation->fd >= 0);
    results++;
    last_result = result;
}

CONTRACT(a_watched_plain_file_is_ready_in_every_turn)
{
    char path[] = "/tmp/upwell-contract-XXXXXX";
    struct uw_operation watch = {.opcode = UW_WATCH, .fd = mkstemp(path), .length = POLLIN, .complete = note_file};

    CHECK(watch.fd >= 0 && unlink(path) == 0);
    for (int i = 1; i <= 3; i++) {
        if (!watch.pending)
            uw_submit(&loop, &watch);
        turn_until(&results, i);
        CHECK_EQUAL(POLLIN, last_result);
    }
    if (watch.pending)
        CHECK_EQUAL(-ECANCELED, cancel(&watch));
    CHECK_EQUAL(0, uw_close(&loop, watch.fd));
}

/* That the loop sleeps. */
static void check_turns(int most)
{
    int64_t deadline_ns = uw_clock_ns() + SHORT_NS;
    int turns = 0;

    for (; uw_clock_ns() < deadline_ns; turns++)
        CHECK_EQUAL(0, uw_loop_turn(&loop, SHORT_NS));
    CHECK(turns <= most);
}

/* The kernel may end one wait for reasons of its own. */
static void check_waits(void)
{
    check_turns(3);
}

static void end_process(pid_t child)
{
    CHECK_EQUAL(0, kill(child, SIGKILL));
    CHECK_EQUAL(child, waitpid(child, NULL, 0));
}

/* A child that has everything open that is open here. */
static pid_t keep_open_elsewhere(void)
{
    pid_t child = fork();

    CHECK(child >= 0);
    while (child == 0)
        pause();
    return child;
}

/* Closes a watched descriptor that a child has open: there it is readable for ever, under a number that here belongs to
 * another file, or to none. */
static pid_t close_here_alone(int fds[2])
{
    struct uw_operation gone = {.opcode = UW_WATCH, .fd = fds[0], .length = POLLIN};
    pid_t child;

    run_into_waiting(&gone);
    child = keep_open_elsewhere();
    CHECK_EQUAL(0, close(fds[0]));
    if (gone.pending)
        cancel(&gone);
    CHECK_EQUAL(1, write(fds[1], "x", 1));
    results = 0;
    return child;
}

CONTRACT(a_closed_descriptor_that_a_child_has_open_disturbs_nobody)
{
    int fds[2], others[2];
    struct uw_operation watch = {.opcode = UW_WATCH, .length = POLLIN};
    pid_t child;

    make_pair(fds);
    watch.fd = fds[0];
    child = close_here_alone(fds);
    check_silence();
    check_waits();

    CHECK_EQUAL(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, others));
    CHECK_EQUAL(fds[0], others[0]);
    run_into_waiting(&watch);
    check_waits();
    CHECK_EQUAL(0, results);
    CHECK_EQUAL(1, write(others[1], "x", 1));
    CHECK_EQUAL(POLLIN, next_result(&watch));
    CHECK_EQUAL(-ECANCELED, cancel(&watch));
    end_process(child);
    CHECK_EQUAL(0, close(fds[1]));
    close_pair(others);
}

static struct rlimit allow_no_more_descriptors(void)
{
    struct rlimit before, now;
    int next = dup(0);

    CHECK(next >= 0 && close(next) == 0);
    CHECK_EQUAL(0, getrlimit(RLIMIT_NOFILE, &before));
    now = (struct rlimit){.rlim_cur = (rlim_t)next, .rlim_max = before.rlim_max};
    CHECK_EQUAL(0, setrlimit(RLIMIT_NOFILE, &now));
    return before;
}

/* Who cannot get rid of it for now goes on all the same, and neither spins nor forgets about it. */
CONTRACT(nor_does_it_while_descriptors_are_short)
{
    int fds[2], others[2];
    struct uw_operation watch = {.opcode = UW_WATCH, .length = POLLIN};
    struct rlimit limit;
    pid_t child;

    make_pair(others);
    make_pair(fds);
    watch.fd = others[0];
    run_into_waiting(&watch);
    child = close_here_alone(fds);
    limit = allow_no_more_descriptors();
    check_turns(SHORT_NS / UW_NS_PER_MS + 1);
    CHECK_EQUAL(0, results);
    CHECK_EQUAL(1, write(others[1], "x", 1));
    CHECK_EQUAL(POLLIN, next_result(&watch));
    empty_socket(others[0]);

    CHECK_EQUAL(0, setrlimit(RLIMIT_NOFILE, &limit));
    check_silence();
    check_waits();
    CHECK_EQUAL(1, write(others[1], "x", 1));
    CHECK_EQUAL(POLLIN, next_result(&watch));
    CHECK_EQUAL(-ECANCELED, cancel(&watch));
    end_process(child);
    CHECK_EQUAL(0, close(fds[1]));
    close_pair(others);
}

/* Backends that wait for readiness spin there, as whoever polls and tries does. */
CONTRACT(what_is_ready_for_less_is_tried_now_and_then)
{
    static uint64_t most = UINT64_MAX - 2, more = 5;
    struct uw_operation add = {
        .opcode = UW_WRITE, .data = &more, .length = sizeof more, .offset = -1, .complete = note};
    int64_t end_ns = uw_clock_ns() + SHORT_NS;
    uint64_t taken;

    if (strncmp(backend_name, "io_uring", 8))
        return;
    add.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    CHECK_EQUAL((int)sizeof most, (int)write(add.fd, &most, sizeof most));
    uw_submit(&loop, &add);
    while (uw_clock_ns() < end_ns)
        CHECK_EQUAL(0, uw_loop_turn(&loop, end_ns - uw_clock_ns()));
    CHECK(add.pending && loop.turns < TURNS_MAX);
    CHECK_EQUAL(-ECANCELED, cancel(&add));
    uw_submit(&loop, &add);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    CHECK_EQUAL((int)sizeof taken, (int)read(add.fd, &taken, sizeof taken));
    turn_until(&results, 2);
    CHECK_EQUAL((int)sizeof more, last_result);
    CHECK_EQUAL(0, uw_close(&loop, add.fd));
}

CONTRACT_MAIN
