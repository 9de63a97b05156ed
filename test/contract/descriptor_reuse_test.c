/* The number of a descriptor is given to another file while reading from it is cancelled. */
#include <sched.h>

#include "backend_contract.h"

#define ROUNDS 500
#define STREAMS 200 /* more than the kernel deals with in one call */

static struct stream {
    struct uw_operation read;
    int fds[2];
} streams[STREAMS];

static char stolen;

static void begin_to_read(struct stream *stream)
{
    CHECK_EQUAL(0, pipe2(stream->fds, O_CLOEXEC));
    stream->read = (struct uw_operation){
        .opcode = UW_READ, .fd = stream->fds[0], .data = &stolen, .length = 1, .offset = -1, .complete = note};
    uw_submit(&loop, &stream->read);
}

static void turn(int turns)
{
    while (turns-- > 0)
        CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
}

static void turn_until_ended(const struct uw_operation *operation)
{
    int64_t deadline_ns = uw_clock_ns() + PATIENCE_NS;

    while (operation->pending && uw_clock_ns() < deadline_ns)
        CHECK_EQUAL(0, uw_loop_turn(&loop, PATIENCE_NS));
    CHECK(!operation->pending);
}

/* What is there to be read in the other file stays there. */
static void replace_while_reading(struct stream *stream)
{
    int others[2];
    char found;

    CHECK_EQUAL(0, pipe2(others, O_CLOEXEC | O_NONBLOCK));
    CHECK_EQUAL(1, write(others[1], "x", 1));
    uw_cancel(&loop, &stream->read);
    uw_loop_flush_sync(&loop);
    CHECK_EQUAL(stream->fds[0], dup3(others[0], stream->fds[0], O_CLOEXEC));
    turn_until_ended(&stream->read);
    CHECK_EQUAL(1, read(others[0], &found, 1));
    close_pair(others);
    close_pair(stream->fds);
}

/* Binds every thread of the process to these processors, the kernel's polling threads too. The polling thread of an
 * earlier loop may exit meanwhile. */
static void run_on(const cpu_set_t *processors)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;

    CHECK(folder != NULL);
    while (folder && (entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            CHECK(!sched_setaffinity(atoi(entry->d_name), sizeof *processors, processors) || errno == ESRCH);
    if (folder)
        closedir(folder);
}

/* Runs `round` while a polling thread has no processor of its own, and comes when this thread waits. */
static void repeat_on_one_processor(void (*round)(void))
{
    int failures = check_failures;
    cpu_set_t all, one;

    CHECK_EQUAL(0, sched_getaffinity(0, sizeof all, &all));
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    run_on(&one);
    for (int i = 0; i < ROUNDS && check_failures == failures; i++)
        round();
    run_on(&all);
}

static void replace_at_once(void)
{
    begin_to_read(&streams[0]);
    replace_while_reading(&streams[0]);
}

CONTRACT(what_was_just_submitted_reads_nothing_from_the_next_file)
{
    repeat_on_one_processor(replace_at_once);
}

static void replace_later(void)
{
    begin_to_read(&streams[0]);
    turn(2);
    replace_while_reading(&streams[0]);
}

CONTRACT(nor_does_what_waits)
{
    repeat_on_one_processor(replace_later);
}

static void replace_when_ready(void)
{
    begin_to_read(&streams[0]);
    turn(2);
    CHECK_EQUAL(1, write(streams[0].fds[1], "a", 1));
    replace_while_reading(&streams[0]);
}

CONTRACT(nor_what_has_just_become_ready)
{
    repeat_on_one_processor(replace_when_ready);
}

CONTRACT(nor_what_has_become_ready_among_many)
{
    for (int i = 0; i < STREAMS; i++)
        begin_to_read(&streams[i]);
    turn(3);
    for (int i = 0; i < STREAMS; i++)
        CHECK_EQUAL(1, write(streams[i].fds[1], "a", 1));
    turn(1);
    for (int i = 0; i < STREAMS; i++) {
        if (streams[i].read.pending)
            replace_while_reading(&streams[i]);
        else
            close_pair(streams[i].fds);
    }
}

CONTRACT_MAIN
