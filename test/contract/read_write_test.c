/* Reading and writing files and pipes. */
#include "backend_contract.h"

#define BIG_BYTES (1024 * 1024)

static int temporary_file(void)
{
    char path[] = "/tmp/upwell-contract-XXXXXX";
    int fd = mkstemp(path);

    CHECK(fd >= 0 && unlink(path) == 0);
    return fd;
}

CONTRACT(reads_and_writes_a_file_at_an_offset)
{
    char buffer[8] = "";
    int fd = temporary_file();
    struct uw_operation write = {.opcode = UW_WRITE, .fd = fd, .data = "abcdef", .length = 6, .offset = 10};
    struct uw_operation read = {.opcode = UW_READ, .fd = fd, .data = buffer, .length = 8, .offset = 12};

    CHECK_EQUAL(6, run(&write));
    CHECK_EQUAL(16, lseek(fd, 0, SEEK_END));
    CHECK_EQUAL(4, run(&read));
    CHECK(memcmp(buffer, "cdef", 4) == 0);
    read.offset = 16;
    CHECK_EQUAL(0, run(&read)); /* the end */
    CHECK_EQUAL(0, uw_close(&loop, fd));
}

CONTRACT(reads_and_writes_a_file_at_the_current_position)
{
    char buffer[8] = "";
    int fd = temporary_file();
    struct uw_operation write = {.opcode = UW_WRITE, .fd = fd, .data = "abc", .length = 3, .offset = -1};
    struct uw_operation read = {.opcode = UW_READ, .fd = fd, .data = buffer, .length = 8, .offset = -1};

    CHECK_EQUAL(3, run(&write));
    CHECK_EQUAL(3, run(&write));
    CHECK_EQUAL(1, lseek(fd, 1, SEEK_SET));
    CHECK_EQUAL(5, run(&read));
    CHECK(memcmp(buffer, "bcabc", 5) == 0);
    CHECK_EQUAL(6, lseek(fd, 0, SEEK_CUR));
    CHECK_EQUAL(0, uw_close(&loop, fd));
}

/* Reads from fds[0], and closes both. */
static void read_stream(int fds[2], bool socket, bool pollable)
{
    char buffer[8] = "";
    struct uw_operation read = {.opcode = UW_READ,
                                .fd = fds[0],
                                .data = buffer,
                                .length = 8,
                                .offset = -1,
                                .socket = socket,
                                .pollable = pollable};

    run_into_waiting(&read);
    CHECK_EQUAL(2, write(fds[1], "xy", 2));
    turn_until(&results, results + 1);
    CHECK(last_result == 2 && memcmp(buffer, "xy", 2) == 0);
    CHECK_EQUAL(0, close(fds[1]));
    CHECK_EQUAL(0, run(&read));
    CHECK_EQUAL(0, uw_close(&loop, fds[0]));
}

CONTRACT(reading_a_pipe_waits_for_bytes)
{
    int fds[2];

    for (int flags = 0; flags <= O_NONBLOCK; flags += O_NONBLOCK) {
        for (int pollable = 0; pollable < 2; pollable++) {
            CHECK_EQUAL(0, pipe2(fds, O_CLOEXEC | flags));
            read_stream(fds, false, pollable);
        }
    }
}

CONTRACT(reading_a_socket_waits_for_bytes)
{
    int fds[2];

    for (int i = 0; i < 4; i++) {
        make_pair(fds);
        if (i & 1)
            set_nonblocking(fds[0]);
        read_stream(fds, true, i & 2);
    }
}

/* The error is told once: whoever reads again finds the end of the stream. */
CONTRACT(an_error_of_a_stream_is_told)
{
    char buffer[8];
    int fds[2], before;

    for (int i = 0; i < 4; i++) {
        struct uw_operation read = {
            .opcode = UW_READ, .data = buffer, .length = 8, .offset = -1, .socket = i & 1, .pollable = i & 2};

        make_pair(fds);
        read.fd = fds[0];
        before = results;
        CHECK_EQUAL(1, write(fds[0], "x", 1));
        run_into_waiting(&read);
        CHECK_EQUAL(0, uw_close(&loop, fds[1])); /* before that byte was read */
        turn_until(&results, before + 1);
        CHECK_EQUAL(-ECONNRESET, last_result);
        CHECK_EQUAL(0, uw_close(&loop, fds[0]));
    }
}

/* IO.select goes on when one of its IOs is closed, and the number is used again. */
CONTRACT(reading_is_told_although_another_polls_what_had_the_number_before)
{
    char buffer[8];
    int before[2], fds[2];
    struct uw_operation poll = {.opcode = UW_POLL, .length = POLLIN}, read = {.opcode = UW_READ, .data = buffer};

    CHECK(pipe2(before, O_CLOEXEC) == 0 && pipe2(fds, O_CLOEXEC) == 0);
    poll.fd = read.fd = before[0];
    run_into_waiting(&poll);
    CHECK_EQUAL(before[0], dup3(fds[0], before[0], O_CLOEXEC));
    CHECK_EQUAL(0, uw_loop_turn(&loop, 0)); /* which may end the poll */
    read.length = sizeof buffer;
    read.offset = -1;
    run_into_waiting(&read);
    CHECK_EQUAL(1, write(fds[1], "x", 1));
    for (int turns = 0; read.pending && turns < 2; turns++) /* one may bring what the other told before */
        CHECK_EQUAL(0, uw_loop_turn(&loop, PATIENCE_NS));
    CHECK(!read.pending && last_result == 1 && buffer[0] == 'x');
    if (poll.pending)
        CHECK_EQUAL(-ECANCELED, cancel(&poll));
    CHECK_EQUAL(0, uw_close(&loop, before[0]));
    CHECK(close(before[1]) == 0 && close(fds[0]) == 0 && close(fds[1]) == 0);
}

/* A number may be another file's by now than the one of which it was said. */
CONTRACT(what_is_wrongly_said_to_be_pollable_is_read)
{
    char buffer[8] = "";
    int fd = temporary_file(), master = posix_openpt(O_RDWR | O_NOCTTY);
    struct uw_operation read = {.opcode = UW_READ, .data = buffer, .length = 8, .offset = -1, .pollable = true};

    read.fd = fd;
    CHECK_EQUAL(2, write(fd, "xy", 2));
    CHECK_EQUAL(1, lseek(fd, 1, SEEK_SET));
    CHECK_EQUAL(1, run(&read));
    CHECK_EQUAL('y', buffer[0]);
    CHECK_EQUAL(0, uw_close(&loop, fd));
    CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    read.fd = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    read.pollable = true;
    CHECK_EQUAL(3, write(master, "ab\n", 3));
    CHECK_EQUAL(3, run(&read));
    CHECK(memcmp(buffer, "ab\n", 3) == 0);
    CHECK_EQUAL(0, uw_close(&loop, read.fd));
    CHECK_EQUAL(0, close(master));
}

/* Writes until nothing more fits; returns how much did. */
static long fill(struct uw_operation *write)
{
    int64_t deadline_ns = uw_clock_ns() + PATIENCE_NS;
    long filled = 0;

    for (;;) {
        uw_submit(&loop, write);
        for (int i = 0; (i < 10 || !filled) && write->pending && uw_clock_ns() < deadline_ns; i++)
            CHECK_EQUAL(0, uw_loop_turn(&loop, 10 * UW_NS_PER_MS));
        CHECK(uw_clock_ns() < deadline_ns);
        if (write->pending)
            return filled;
        CHECK(last_result > 0);
        filled += last_result;
        if (last_result <= 0)
            return filled;
    }
}

static void write_pipe(bool nonblocking)
{
    static char big[BIG_BYTES], buffer[BIG_BYTES];
    int fds[2];
    struct uw_operation write = {.opcode = UW_WRITE, .complete = note, .data = big, .length = sizeof big, .offset = -1};
    long filled, emptied = 0;

    CHECK_EQUAL(0, pipe2(fds, O_CLOEXEC | (nonblocking ? O_NONBLOCK : 0)));
    write.fd = fds[1];
    filled = fill(&write);
    CHECK(filled > 0 && filled < (long)sizeof big);
    while (emptied < filled)
        emptied += read(fds[0], buffer, sizeof buffer);
    turn_until(&results, results + 1);
    CHECK(last_result > 0);
    CHECK_EQUAL(0, close(fds[0]));
    CHECK_EQUAL(0, uw_close(&loop, fds[1]));
}

CONTRACT(writing_to_a_full_pipe_waits_and_blocks_nobody)
{
    write_pipe(true);
    write_pipe(false);
}

/* The pipes and sockets of Ruby are non-blocking: there too a read or write waits. */
CONTRACT(reading_a_nonblocking_pipe_waits_for_bytes)
{
    char buffer[8];
    int fds[2];
    struct uw_operation in = {.opcode = UW_READ, .data = buffer, .length = sizeof buffer, .offset = -1};

    CHECK_EQUAL(0, pipe2(fds, O_CLOEXEC | O_NONBLOCK));
    in.fd = fds[0];
    run_into_waiting(&in);
    CHECK_EQUAL(3, write(fds[1], "abc", 3));
    turn_until(&results, 1);
    CHECK(last_result == 3 && memcmp(buffer, "abc", 3) == 0);
    run_into_waiting(&in);
    CHECK_EQUAL(-ECANCELED, cancel(&in));
    uw_submit(&loop, &in);
    CHECK_EQUAL(-ECANCELED, cancel(&in)); /* before the kernel knew of it */
    CHECK_EQUAL(1, write(fds[1], "d", 1));
    CHECK_EQUAL(1, run(&in)); /* which no cancelled read took with it */
    CHECK_EQUAL(0, close(fds[1]));
    CHECK_EQUAL(0, run(&in));
    CHECK_EQUAL(0, uw_close(&loop, fds[0]));
    CHECK_EQUAL(-EBADF, run(&in));
}

/* Of two that wait, one gets the bytes, and the other goes on waiting. */
CONTRACT(two_readers_of_a_nonblocking_pipe)
{
    char buffer[8];
    int fds[2];
    struct uw_operation one = {.opcode = UW_READ, .data = buffer, .length = sizeof buffer, .offset = -1}, other = one;

    CHECK_EQUAL(0, pipe2(fds, O_CLOEXEC | O_NONBLOCK));
    one.fd = other.fd = fds[0];
    run_into_waiting(&one);
    run_into_waiting(&other);
    CHECK_EQUAL(1, write(fds[1], "a", 1));
    turn_until(&results, 1);
    CHECK_EQUAL(1, last_result);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    CHECK(results == 1 && one.pending != other.pending);
    CHECK_EQUAL(1, write(fds[1], "b", 1));
    turn_until(&results, 2);
    CHECK(total == 2 && !one.pending && !other.pending);
    close_pair(fds);
}

CONTRACT(writing_to_a_full_nonblocking_pipe_waits)
{
    static char full[1 << 16];
    int fds[2];
    struct uw_operation out = {.opcode = UW_WRITE, .data = "abc", .length = 3, .offset = -1};

    CHECK_EQUAL(0, pipe2(fds, O_CLOEXEC | O_NONBLOCK));
    out.fd = fds[1];
    FILL(write(fds[1], full, sizeof full));
    run_into_waiting(&out);
    while (read(fds[0], full, sizeof full) > 0)
        ;
    turn_until(&results, 1);
    CHECK_EQUAL(3, last_result);
    close_pair(fds);
}

CONTRACT_MAIN
