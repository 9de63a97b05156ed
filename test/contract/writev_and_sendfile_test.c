/* Sending a vector, and a stretch of a file. */
#include <signal.h>

#include "backend_contract.h"

#define BIG_BYTES (8 * 1024 * 1024)
#define TURNS_WITHOUT_ROOM 500 /* more than Linux tries to send before it gives up */
#define PATTERN 251            /* a prime: bytes that are misplaced show */

static int temporary_file(int length)
{
    int file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    char *bytes = malloc((size_t)length);

    for (int i = 0; i < length; i++)
        bytes[i] = (char)(i % PATTERN);
    CHECK_EQUAL(length, write(file, bytes, (size_t)length));
    free(bytes);
    return file;
}

struct reader {
    int fd, start; /* of the pattern */
    long right;    /* bytes that were as expected */
};

/* Slower than the loop sends, so that sending has to wait. */
static void *read_slowly(void *argument)
{
    static char buffer[65536];
    struct reader *reader = argument;
    ssize_t count;

    while ((count = read(reader->fd, buffer, sizeof buffer)) > 0)
        for (ssize_t i = 0; i < count; i++)
            reader->right += buffer[i] == (char)((reader->start + reader->right) % PATTERN);
    return NULL;
}

/* Runs `send`, which is to send `length` bytes of the pattern from `start`. */
static void send_to_slow_reader(struct uw_operation *send, int start, int length)
{
    struct reader reader = {.start = start};
    pthread_t thread;
    int fds[2];

    make_pair(fds);
    set_nonblocking(fds[0]);
    send->fd = fds[0];
    reader.fd = fds[1];
    CHECK_EQUAL(0, pthread_create(&thread, NULL, read_slowly, &reader));
    CHECK_EQUAL(length, run(send));
    CHECK_EQUAL(0, shutdown(fds[0], SHUT_WR));
    CHECK_EQUAL(0, pthread_join(thread, NULL));
    CHECK_EQUAL(length, reader.right);
    close_pair(fds);
}

CONTRACT(sends_all_of_a_vector)
{
    char *bytes = malloc(BIG_BYTES);
    struct iovec pieces[] = {{bytes, 1}, {bytes, 0}, {bytes + 1, BIG_BYTES - 3}, {bytes + BIG_BYTES - 2, 2}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 4};

    for (int i = 0; i < BIG_BYTES; i++)
        bytes[i] = (char)(i % PATTERN);
    send_to_slow_reader(&(struct uw_operation){.opcode = UW_SEND_VECTOR, .data = &message}, 0, BIG_BYTES);
    free(bytes);
}

CONTRACT(sends_a_stretch_of_a_file)
{
    int file = temporary_file(BIG_BYTES + 20);

    send_to_slow_reader(&(struct uw_operation){.opcode = UW_SEND_FILE, .file = file, .offset = 10, .length = BIG_BYTES},
                        10, BIG_BYTES);
    close(file);
}

CONTRACT(a_file_that_ends_early_is_sent_in_part)
{
    int file = temporary_file(1000);
    struct uw_operation send = {.opcode = UW_SEND_FILE, .file = file, .offset = 100, .length = 5000};

    send_to_slow_reader(&send, 100, 900);
    send.offset = 1000;
    send_to_slow_reader(&send, 0, 0);
    close(file);
}

CONTRACT(sending_a_file_can_be_cancelled)
{
    int fds[2], file = temporary_file(BIG_BYTES);
    struct uw_operation send = {.opcode = UW_SEND_FILE, .complete = note, .file = file, .length = BIG_BYTES};

    make_pair(fds);
    set_nonblocking(fds[0]);
    send.fd = fds[0];
    run_into_waiting(&send);
    CHECK_EQUAL(-ECANCELED, cancel(&send));
    close_pair(fds);
    close(file);
}

/* `operation` waits for room while the other end has closed its side, and may be cancelled meanwhile. */
static void wait_for_room(struct uw_operation *operation, bool cancels)
{
    static char bytes[65536];
    int64_t deadline_ns = uw_clock_ns() + PATIENCE_NS;
    int fds[2];

    make_pair(fds);
    set_nonblocking(fds[0]);
    FILL(send(fds[0], bytes, sizeof bytes, MSG_DONTWAIT));
    CHECK_EQUAL(0, shutdown(fds[1], SHUT_WR));
    operation->fd = fds[0];
    run_into_waiting(operation);
    for (int i = 0; i < TURNS_WITHOUT_ROOM; i++)
        CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    CHECK(operation->pending);
    if (cancels)
        CHECK_EQUAL(-ECANCELED, cancel(operation));
    while (operation->pending && uw_clock_ns() < deadline_ns) {
        (void)recv(fds[1], bytes, sizeof bytes, MSG_DONTWAIT);
        CHECK_EQUAL(0, uw_loop_turn(&loop, UW_NS_PER_MS));
    }
    CHECK(!operation->pending);
    if (!cancels)
        CHECK_EQUAL(1000, last_result);
    close_pair(fds);
}

CONTRACT(sends_to_an_end_that_has_closed_its_side)
{
    static char bytes[1000];
    int file = temporary_file(sizeof bytes);

    for (int cancels = 0; cancels < 2; cancels++) {
        struct iovec piece = {bytes, sizeof bytes};
        struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
        struct uw_operation sends[] = {
            {.opcode = UW_SEND, .data = bytes, .length = sizeof bytes},
            {.opcode = UW_SEND_VECTOR, .data = &message},
            {.opcode = UW_SEND_FILE, .file = file, .length = sizeof bytes},
            {.opcode = UW_WRITE, .data = bytes, .length = sizeof bytes, .offset = -1},
            {.opcode = UW_WRITE, .data = bytes, .length = sizeof bytes, .offset = -1, .socket = true},
            {.opcode = UW_WRITE, .data = bytes, .length = sizeof bytes, .offset = -1, .socket = true, .pollable = true},
        };

        for (size_t i = 0; i < sizeof sends / sizeof *sends; i++)
            wait_for_room(&sends[i], cancels);
    }
    close(file);
}

static int pipe_signals;

static void count_signal(int number)
{
    CHECK_EQUAL(SIGPIPE, number);
    pipe_signals++;
}

static bool sigpipe_is_blocked(void)
{
    sigset_t mask;

    CHECK_EQUAL(0, pthread_sigmask(SIG_BLOCK, NULL, &mask));
    return sigismember(&mask, SIGPIPE);
}

static bool sigpipe_is_pending(void)
{
    sigset_t pending;

    CHECK_EQUAL(0, sigpending(&pending));
    return sigismember(&pending, SIGPIPE);
}

static void set_sigpipe(void (*action)(int), int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pipe_signals = 0;
    CHECK(signal(SIGPIPE, action) != SIG_ERR);
    CHECK_EQUAL(0, pthread_sigmask(how, &set, NULL));
}

/* To a reader that leaves while sending waits, and to one that has left before. */
static void send_files_to_nobody(void)
{
    int fds[2], file = temporary_file(BIG_BYTES);
    struct uw_operation send = {.opcode = UW_SEND_FILE, .complete = note, .file = file, .length = BIG_BYTES};
    bool blocked = sigpipe_is_blocked();

    make_pair(fds);
    set_nonblocking(fds[0]);
    send.fd = fds[0];
    run_into_waiting(&send);
    CHECK_EQUAL(blocked, sigpipe_is_blocked());
    close(fds[1]);
    turn_until(&results, 1);
    CHECK_EQUAL(-EPIPE, last_result);
    uw_submit(&loop, &send);
    CHECK_EQUAL(blocked, sigpipe_is_blocked());
    turn_until(&results, 2);
    CHECK_EQUAL(-EPIPE, last_result);
    CHECK_EQUAL(blocked, sigpipe_is_blocked());
    CHECK(!sigpipe_is_pending());
    CHECK_EQUAL(0, uw_close(&loop, fds[0]));
    close(file);
}

CONTRACT(a_reader_that_leaves_ends_sending_a_file_and_raises_no_signal)
{
    set_sigpipe(count_signal, SIG_UNBLOCK);
    send_files_to_nobody();
    CHECK_EQUAL(0, pipe_signals);
}

CONTRACT(whoever_blocks_or_ignores_sigpipe_goes_on_doing_so)
{
    set_sigpipe(SIG_IGN, SIG_UNBLOCK);
    send_files_to_nobody();
    set_sigpipe(count_signal, SIG_BLOCK);
    results = 0;
    send_files_to_nobody();
    set_sigpipe(count_signal, SIG_UNBLOCK);
    CHECK_EQUAL(0, pipe_signals);
}

/* As a client does it over the network. */
CONTRACT(a_connection_that_is_reset_while_a_file_goes_to_it_raises_no_signal)
{
    struct sockaddr_in address = {0};
    int listener = listen_at(&address, 1), client = connect_to(&address), file = temporary_file(BIG_BYTES);
    struct uw_operation send = {.opcode = UW_SEND_FILE, .complete = note, .file = file, .length = BIG_BYTES};

    set_sigpipe(count_signal, SIG_UNBLOCK);
    send.fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    uw_submit(&loop, &send);
    CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    CHECK_EQUAL(0, shutdown(client, SHUT_WR)); /* and then a reset is EPIPE to the other side */
    reset(client);
    turn_until(&results, 1);
    CHECK_EQUAL(-EPIPE, last_result);
    CHECK(!pipe_signals && !sigpipe_is_pending() && !sigpipe_is_blocked());
    CHECK_EQUAL(0, uw_close(&loop, send.fd));
    close(listener);
    close(file);
}

CONTRACT_MAIN
