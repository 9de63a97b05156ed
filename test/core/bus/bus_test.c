/* Members of a bus, in this process and in others: which member receives from which, and that one does not disturb the
 * rest. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bus/bus.h"
#include "check.h"
#include "io/backend.h"

#define PATIENCE_NS (60 * UW_NS_PER_SECOND)
#define TURN_NS (UW_NS_PER_SECOND / 10000)
#define MEMBERS 3
#define MESSAGES 300
#define BIG_BYTES (2 * 1024 * 1024)
#define CHANNEL "channel"

struct member {
    struct uw_loop loop;
    struct uw_bus bus;
    int received;
    int next[MEMBERS]; /* the number of the next message, by its publisher */
    int skipped;       /* numbers */
    size_t last_length;
    bool last_text, answers, joined;
    int error; /* the last error */
};

static char folder[64], big[UW_BUS_MESSAGE_BYTES_MAX + 1];
static const char *backend;

static int publish(struct member *member, const char *message)
{
    return uw_bus_publish(&member->bus, CHANNEL, strlen(CHANNEL), message, strlen(message), true);
}

/* "<publisher> <number>", and anything behind it. */
static void received(void *context, const char *channel, size_t channel_length, const char *message, size_t length,
                     bool text)
{
    struct member *member = context;
    char start[32] = "";
    int publisher, number;

    CHECK_EQUAL(strlen(CHANNEL), channel_length);
    CHECK(memcmp(CHANNEL, channel, channel_length) == 0);
    memcpy(start, message, length < sizeof start ? length : sizeof start - 1);
    member->received++;
    member->last_length = length;
    member->last_text = text;
    if (sscanf(start, "%d %d", &publisher, &number) == 2 && publisher >= 0 && publisher < MEMBERS) {
        CHECK(number >= member->next[publisher]); /* in order, and never twice */
        member->skipped += number - member->next[publisher];
        member->next[publisher] = number + 1;
    }
    if (member->answers)
        CHECK_EQUAL(1, publish(member, "answer"));
}

static void joined(void *context)
{
    struct member *member = context;

    CHECK(!member->joined);
    member->joined = true;
}

static void troubled(void *context, int error)
{
    ((struct member *)context)->error = error;
}

static int join_bus(struct member *member, const char *where)
{
    memset(member, 0, sizeof *member);
    CHECK_EQUAL(0, uw_loop_open(&member->loop, backend, NULL));
    return uw_bus_open(
        &member->bus, &member->loop, where,
        (struct uw_bus_callbacks){.received = received, .joined = joined, .troubled = troubled, .context = member});
}

static void leave_bus(struct member *member)
{
    uw_loop_close(&member->loop);
    uw_bus_close(&member->bus);
}

static struct uw_bus_stats stats(const struct member *member)
{
    return uw_bus_stats(&member->bus);
}

/* Turns all of them until `happened` is true. */
#define TURN_UNTIL(members, count, happened) \
    do { \
        int64_t turn_deadline = uw_clock_ns() + PATIENCE_NS; \
        while (!(happened) && uw_clock_ns() < turn_deadline) \
            for (int turned = 0; turned < (count); turned++) \
                CHECK_EQUAL(0, uw_loop_turn(&(members)[turned].loop, TURN_NS)); \
        CHECK(happened); \
    } while (0)

static bool all_know_each_other(const struct member *members, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (stats(&members[i]).peers != count - 1 || stats(&members[i]).incoming_peers != count - 1)
            return false;
    return true;
}

static void join_all(struct member *members, int count)
{
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(0, join_bus(&members[i], folder));
    TURN_UNTIL(members, count, all_know_each_other(members, (size_t)count));
}

static void leave_all(struct member *members, int count)
{
    for (int i = 0; i < count; i++)
        leave_bus(&members[i]);
}

static int count_files(void)
{
    DIR *files = opendir(folder);
    int count = 0;

    for (const struct dirent *entry; (entry = readdir(files));)
        count += entry->d_name[0] != '.';
    closedir(files);
    return count;
}

static void begin_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/upwell-bus-test-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
}

/* Whoever has left has left nothing behind. */
static void end_folder(void)
{
    CHECK_EQUAL(0, count_files());
    CHECK_EQUAL(0, rmdir(folder));
}

static void on_every_backend(void (*test)(void))
{
    for (int i = 0; uw_backends[i]; i++) {
        if (uw_backend_probe(uw_backends[i]))
            continue;
        backend = uw_backends[i]->name;
        begin_folder();
        test();
        end_folder();
    }
}

static struct sockaddr_un address_of(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", folder, name);
    return address;
}

static void make_file(const char *name)
{
    struct sockaddr_un address = address_of(name);
    int fd = open(address.sun_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    CHECK(fd >= 0);
    close(fd);
}

static void remove_file(const char *name)
{
    struct sockaddr_un address = address_of(name);

    CHECK_EQUAL(0, unlink(address.sun_path));
}

/* Peers without a bus, which may do as they like. */

static int stranger_connects(const struct member *member)
{
    struct sockaddr_un address = address_of(member->bus.senders.directory.name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK_EQUAL(0, connect(fd, (struct sockaddr *)&address, sizeof address));
    return fd;
}

static int stranger_listens(const char *name, bool listens)
{
    struct sockaddr_un address = address_of(name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK_EQUAL(0, bind(fd, (struct sockaddr *)&address, sizeof address));
    if (listens)
        CHECK_EQUAL(0, listen(fd, SOMAXCONN));
    return fd;
}

static bool is_ready(int fd)
{
    struct pollfd item = {.fd = fd, .events = POLLIN};

    return poll(&item, 1, 0) == 1;
}

static size_t write_frame(char *at, unsigned flags, const char *channel, const char *message)
{
    struct uw_bus_frame frame = {.flags = flags,
                                 .channel = channel,
                                 .channel_length = strlen(channel),
                                 .message = message,
                                 .message_length = strlen(message)};

    uw_bus_frame_write(at, &frame);
    return frame.length;
}

static void stranger_sends(int fd, const char *bytes, size_t length)
{
    CHECK_EQUAL(length, send(fd, bytes, length, MSG_NOSIGNAL));
}

#define STRANGER "1-0123456789abcdef.bus"
#define OTHER_STRANGER "2-0123456789abcdef.bus"

/* The tests. */

static void publish_numbers(struct member *members, int count)
{
    char message[32];

    for (int number = 0; number < MESSAGES; number++)
        for (int i = 0; i < count; i++) {
            snprintf(message, sizeof message, "%d %d", i, number);
            CHECK_EQUAL(count - 1, publish(&members[i], message));
        }
}

static bool all_have_received(const struct member *members, int count, int messages)
{
    for (int i = 0; i < count; i++)
        if (members[i].received < messages)
            return false;
    return true;
}

static void every_member_hears(void)
{
    struct member members[MEMBERS];

    join_all(members, MEMBERS);
    publish_numbers(members, MEMBERS);
    TURN_UNTIL(members, MEMBERS, all_have_received(members, MEMBERS, (MEMBERS - 1) * MESSAGES));
    for (int i = 0; i < MEMBERS; i++) {
        CHECK_EQUAL((MEMBERS - 1) * MESSAGES, members[i].received);
        CHECK_EQUAL(0, members[i].skipped);
        CHECK_EQUAL(0, members[i].next[i]); /* nothing of its own */
        CHECK_EQUAL((MEMBERS - 1) * MESSAGES, stats(&members[i]).sent);
        CHECK_EQUAL((MEMBERS - 1) * MESSAGES, stats(&members[i]).received);
        CHECK_EQUAL(0, stats(&members[i]).dropped);
        CHECK_EQUAL(MEMBERS - 1, members[i].bus.receivers.count); /* one connection from each */
    }
    leave_all(members, MEMBERS);
}

/* One that has joined is known to all: whatever they publish from then on arrives. */
static void joining(void)
{
    struct member members[MEMBERS];

    for (int i = 0; i < MEMBERS; i++)
        CHECK_EQUAL(0, join_bus(&members[i], folder));
    CHECK(members[0].bus.joined && !members[1].bus.joined);
    CHECK_EQUAL(0, publish(&members[0], "nobody is known"));
    TURN_UNTIL(members, 2, members[1].joined && stats(&members[0]).peers == 2 && stats(&members[1]).peers == 2);
    CHECK(!members[2].joined);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(2, publish(&members[i], "all are known"));
    TURN_UNTIL(members, MEMBERS, members[2].joined && members[2].received == 2);
    CHECK(!members[0].joined); /* when it was opened */
    leave_all(members, MEMBERS);
}

TEST(who_has_joined_is_known_to_all)
{
    on_every_backend(joining);
}

TEST(every_member_hears_every_other_in_order_and_once)
{
    on_every_backend(every_member_hears);
}

static void known_at_once(void)
{
    struct member members[2];

    CHECK_EQUAL(0, join_bus(&members[0], folder));
    CHECK_EQUAL(0, publish(&members[0], "nobody is there"));
    CHECK_EQUAL(0, join_bus(&members[1], folder));
    CHECK_EQUAL(1, publish(&members[1], "found as it began"));
    TURN_UNTIL(members, 2, members[0].received == 1);
    CHECK_EQUAL(strlen("found as it began"), members[0].last_length);
    CHECK(members[0].last_text);
    CHECK_EQUAL(1, publish(&members[0], "greeted before"));
    TURN_UNTIL(members, 2, members[1].received == 1);
    leave_all(members, 2);
}

TEST(who_was_there_is_known_at_once_and_who_comes_once_it_has_greeted)
{
    on_every_backend(known_at_once);
}

static void any_length(void)
{
    static const size_t lengths[] = {0, 1, UW_RECEIVE_BYTES_MAX, BIG_BYTES, UW_BUS_MESSAGE_BYTES_MAX};
    struct member members[2];
    struct uw_bus *bus = &members[0].bus;

    join_all(members, 2);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        CHECK_EQUAL(1, uw_bus_publish(bus, CHANNEL, strlen(CHANNEL), big, lengths[i], i % 2));
        TURN_UNTIL(members, 2, members[1].received == (int)i + 1);
        CHECK_EQUAL(lengths[i], members[1].last_length);
        CHECK_EQUAL(i % 2, members[1].last_text);
    }
    CHECK_EQUAL(-EMSGSIZE, uw_bus_publish(bus, CHANNEL, strlen(CHANNEL), big, UW_BUS_MESSAGE_BYTES_MAX + 1, true));
    CHECK_EQUAL(-EMSGSIZE, members[0].error);
    CHECK_EQUAL(-EMSGSIZE, uw_bus_publish(bus, big, UW_BUS_CHANNEL_BYTES_MAX + 1, "", 0, true));
    CHECK_EQUAL(2, uw_bus_stats(bus).dropped);
    leave_all(members, 2);
}

TEST(a_message_has_any_length_up_to_the_limit)
{
    on_every_backend(any_length);
}

static void slow_member(void)
{
    struct member members[MEMBERS]; /* the last one takes no turns */
    int number = 0, dropped;

    join_all(members, MEMBERS);
    for (; stats(&members[0]).dropped == 0 && number < 10 * UW_BUS_PEER_BYTES_MAX / BIG_BYTES; number++) {
        (void)snprintf(big, sizeof big, "0 %d", number);
        CHECK(uw_bus_publish(&members[0].bus, CHANNEL, strlen(CHANNEL), big, BIG_BYTES, false) >= 1);
        TURN_UNTIL(members, 2, members[1].received == number + 1);
    }
    CHECK_EQUAL(0, members[1].skipped);
    dropped = (int)stats(&members[0]).dropped;
    CHECK_EQUAL(1, dropped);
    CHECK_EQUAL(MEMBERS - 1, stats(&members[0]).peers);
    TURN_UNTIL(members, MEMBERS, members[2].received == number - dropped);
    (void)snprintf(big, sizeof big, "0 %d", number);
    CHECK_EQUAL(2, uw_bus_publish(&members[0].bus, CHANNEL, strlen(CHANNEL), big, BIG_BYTES, false));
    TURN_UNTIL(members, MEMBERS, members[2].received == number + 1 - dropped);
    CHECK_EQUAL(dropped, members[2].skipped);
    leave_all(members, MEMBERS);
}

TEST(who_does_not_read_stops_nobody_and_hears_what_comes_later)
{
    on_every_backend(slow_member);
}

/* Its own loop: a copy of its parent's is none. */
static pid_t fork_member(void)
{
    pid_t child = fork();
    struct member member;

    if (child != 0)
        return child;
    if (join_bus(&member, folder))
        _exit(1);
    member.answers = true;
    while (uw_loop_turn(&member.loop, UW_FOREVER) == 0)
        ;
    _exit(1);
}

static void kill_member(pid_t child)
{
    int status;

    CHECK_EQUAL(0, kill(child, SIGKILL));
    CHECK_EQUAL(child, waitpid(child, &status, 0));
    CHECK(WIFSIGNALED(status)); /* it has lived until then */
}

static void killed_process(void)
{
    struct member member;
    pid_t child;

    CHECK_EQUAL(0, join_bus(&member, folder));
    child = fork_member();
    TURN_UNTIL(&member, 1, stats(&member).peers == 1 && stats(&member).incoming_peers == 1);
    CHECK_EQUAL(2, count_files());
    CHECK_EQUAL(1, publish(&member, "question"));
    TURN_UNTIL(&member, 1, member.received == 1);
    kill_member(child);
    TURN_UNTIL(&member, 1, stats(&member).peers == 0 && stats(&member).incoming_peers == 0 && count_files() == 1);
    CHECK(uw_list_empty(&member.bus.senders.links));
    CHECK_EQUAL(0, publish(&member, "nobody is there"));
    leave_bus(&member);
}

TEST(a_process_that_is_killed_is_noticed_and_its_socket_removed)
{
    on_every_backend(killed_process);
}

static void stopped_process(void)
{
    struct member member;
    pid_t child;
    int sent = 0, status;

    CHECK_EQUAL(0, join_bus(&member, folder));
    child = fork_member();
    TURN_UNTIL(&member, 1, stats(&member).peers == 1 && stats(&member).incoming_peers == 1);
    CHECK_EQUAL(0, kill(child, SIGSTOP));
    CHECK_EQUAL(child, waitpid(child, &status, WUNTRACED));
    CHECK(WIFSTOPPED(status));
    while (sent < 10 * UW_BUS_PEER_BYTES_MAX / BIG_BYTES && stats(&member).dropped == 0) {
        (void)snprintf(big, sizeof big, "0 %d", sent);
        sent += uw_bus_publish(&member.bus, CHANNEL, strlen(CHANNEL), big, BIG_BYTES, false);
    }
    CHECK_EQUAL(1, stats(&member).dropped);
    CHECK_EQUAL(1, stats(&member).peers);
    CHECK_EQUAL(0, kill(child, SIGCONT));
    TURN_UNTIL(&member, 1, member.received == sent);
    CHECK_EQUAL(1, publish(&member, "later"));
    TURN_UNTIL(&member, 1, member.received == sent + 1);
    kill_member(child);
    TURN_UNTIL(&member, 1, count_files() == 1);
    leave_bus(&member);
}

TEST(a_process_that_is_stopped_goes_on_where_it_was)
{
    on_every_backend(stopped_process);
}

static void who_leaves(void)
{
    struct member members[MEMBERS];

    join_all(members, MEMBERS);
    CHECK_EQUAL(2, publish(&members[2], "the last word"));
    leave_bus(&members[2]);
    TURN_UNTIL(members, 2, all_know_each_other(members, 2));
    CHECK_EQUAL(1, members[0].received); /* what the kernel had taken */
    CHECK_EQUAL(1, members[1].received);
    CHECK_EQUAL(0, join_bus(&members[2], folder));
    TURN_UNTIL(members, MEMBERS, all_know_each_other(members, MEMBERS));
    leave_all(members, MEMBERS);
}

TEST(who_leaves_is_not_sent_to_and_others_come)
{
    on_every_backend(who_leaves);
}

/* Stays until `stay` is closed, and then abandons its copy of the member. */
static pid_t fork_abandoning(struct member *member, int stay[2])
{
    pid_t child;
    char byte;

    CHECK_EQUAL(0, pipe(stay));
    child = fork();
    if (child != 0)
        return child;
    close(stay[1]);
    uw_bus_abandon(&member->bus);
    if (read(stay[0], &byte, 1) == 0)
        kill(getpid(), SIGKILL); /* so that nobody looks for leaks of the parent's */
    _exit(1);
}

static void child_of_a_member(bool leaves_first)
{
    struct member members[2];
    int stay[2], status;
    pid_t child;

    join_all(members, 2);
    child = fork_abandoning(&members[0], stay);
    CHECK(child > 0);
    if (leaves_first) {
        leave_bus(&members[0]);
        TURN_UNTIL(&members[1], 1, stats(&members[1]).peers == 0 && stats(&members[1]).incoming_peers == 0);
    }
    close(stay[1]);
    CHECK_EQUAL(child, waitpid(child, &status, 0));
    CHECK(WIFSIGNALED(status));
    close(stay[0]);
    if (!leaves_first) {
        CHECK_EQUAL(1, publish(&members[0], "still there"));
        TURN_UNTIL(members, 2, members[1].received == 1);
        CHECK_EQUAL(1, publish(&members[1], "still there"));
        TURN_UNTIL(members, 2, members[0].received == 1);
        CHECK_EQUAL(2, count_files());
        leave_bus(&members[0]);
    }
    leave_bus(&members[1]);
}

static void children(void)
{
    child_of_a_member(false);
    child_of_a_member(true);
}

TEST(a_forked_child_does_not_speak_for_its_parent)
{
    on_every_backend(children);
}

/* It is not heard any longer, and the connection of another is not touched. */
static void check_refused(struct member *members, const char *bytes, size_t length)
{
    int stranger = stranger_connects(&members[0]), before = members[0].received;
    char byte;

    stranger_sends(stranger, bytes, length);
    TURN_UNTIL(members, 2, is_ready(stranger));
    CHECK(recv(stranger, &byte, 1, 0) <= 0);
    close(stranger);
    CHECK_EQUAL(before, members[0].received);
    CHECK(all_know_each_other(members, 2));
    CHECK_EQUAL(1, publish(&members[1], "sound"));
    TURN_UNTIL(members, 2, members[0].received == before + 1);
}

static void broken_frames(void)
{
    struct member members[2];
    char bytes[200];
    size_t hello;

    join_all(members, 2);
    check_refused(members, "GET / HTTP/1.1\r\n\r\n", 18);
    check_refused(members, bytes, write_frame(bytes, UW_BUS_TEXT, CHANNEL, "without a greeting"));
    check_refused(members, bytes, write_frame(bytes, UW_BUS_HELLO, "../" STRANGER, ""));
    check_refused(members, bytes, write_frame(bytes, UW_BUS_HELLO, "", ""));
    hello = write_frame(bytes, UW_BUS_HELLO, STRANGER, "");
    check_refused(members, bytes, hello + write_frame(bytes + hello, UW_BUS_HELLO, STRANGER, ""));
    memcpy(bytes + hello, "UB\x02", 3);
    check_refused(members, bytes, hello + 3);
    memcpy(bytes + hello, "UB\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff", UW_BUS_FRAME_HEAD_BYTES);
    check_refused(members, bytes, hello + UW_BUS_FRAME_HEAD_BYTES);
    leave_all(members, 2);
}

TEST(a_broken_frame_ends_the_connection_of_its_sender_only)
{
    on_every_backend(broken_frames);
}

static void parts_of_frames(void)
{
    struct member member;
    char bytes[200];
    size_t length = write_frame(bytes, UW_BUS_HELLO, STRANGER, "");
    int stranger;

    CHECK_EQUAL(0, join_bus(&member, folder));
    stranger = stranger_connects(&member);
    length += write_frame(bytes + length, 0, CHANNEL, "whole");
    length += write_frame(bytes + length, 0, CHANNEL, "vanishes");
    for (size_t i = 0; i < length - 1; i++) {
        stranger_sends(stranger, bytes + i, 1);
        CHECK_EQUAL(0, uw_loop_turn(&member.loop, 0));
    }
    TURN_UNTIL(&member, 1, member.received == 1);
    CHECK_EQUAL(0, stats(&member).peers); /* whose socket is not there */
    CHECK_EQUAL(1, stats(&member).incoming_peers);
    close(stranger);
    TURN_UNTIL(&member, 1, stats(&member).incoming_peers == 0);
    CHECK_EQUAL(1, member.received);
    CHECK(uw_list_empty(&member.bus.receivers.connections));
    leave_bus(&member);
}

TEST(frames_come_in_any_parts_and_one_without_its_end_is_none)
{
    on_every_backend(parts_of_frames);
}

static int accept_greeted(struct member *member, int listener)
{
    struct uw_bus_frame frame;
    char bytes[200];
    ssize_t length;
    int fd;

    TURN_UNTIL(member, 1, is_ready(listener));
    fd = accept(listener, NULL, NULL);
    CHECK(fd >= 0);
    TURN_UNTIL(member, 1, is_ready(fd));
    length = recv(fd, bytes, sizeof bytes, 0);
    CHECK(length > 0 && uw_bus_frame_read(&frame, bytes, (size_t)length) == 1);
    CHECK_EQUAL(UW_BUS_HELLO, frame.flags);
    CHECK_EQUAL(strlen(member->bus.senders.directory.name), frame.channel_length);
    return fd;
}

static void connects_again(void)
{
    int listener = stranger_listens(STRANGER, true), fd;
    struct member member;

    CHECK_EQUAL(0, join_bus(&member, folder));
    CHECK_EQUAL(1, stats(&member).peers);
    fd = accept_greeted(&member, listener);
    close(fd);
    fd = accept_greeted(&member, listener);
    CHECK_EQUAL(1, stats(&member).peers);
    stranger_sends(fd, "?", 1); /* nothing comes back on it */
    TURN_UNTIL(&member, 1, stats(&member).peers == 0);
    close(fd);
    close(listener);
    TURN_UNTIL(&member, 1, uw_list_empty(&member.bus.senders.links));
    CHECK_EQUAL(1, count_files());
    leave_bus(&member);
}

TEST(who_ends_a_connection_is_tried_again_until_it_is_gone)
{
    on_every_backend(connects_again);
}

static int (*greeted)(struct uw_bus_receivers *receivers, const char *name);

static int forget_once(struct uw_bus_receivers *receivers, const char *name)
{
    (void)name;
    receivers->hello = greeted;
    return -ENOMEM;
}

static void greets_again(void)
{
    struct member members[2];

    CHECK_EQUAL(0, join_bus(&members[0], folder));
    greeted = members[0].bus.receivers.hello;
    members[0].bus.receivers.hello = forget_once;
    CHECK_EQUAL(0, join_bus(&members[1], folder));
    TURN_UNTIL(members, 2, members[0].bus.receivers.hello == greeted);
    TURN_UNTIL(members, 2, all_know_each_other(members, 2));
    leave_all(members, 2);
}

TEST(who_cannot_be_known_for_want_of_memory_greets_again)
{
    on_every_backend(greets_again);
}

static int names_told;

static int find_and_fail(void *context, const char *name)
{
    (void)context, (void)name;
    names_told++;
    return -ENOMEM;
}

static void looks_in_vain(void)
{
    struct member members[MEMBERS];

    names_told = 0;
    join_all(members, MEMBERS);
    CHECK_EQUAL(-ENOMEM, uw_bus_directory_each_peer(&members[0].bus.senders.directory, find_and_fail, NULL));
    CHECK_EQUAL(1, names_told);
    leave_all(members, MEMBERS);
}

TEST(who_cannot_know_the_others_does_not_join)
{
    on_every_backend(looks_in_vain);
}

static void strange_files(void)
{
    struct member member;
    struct sockaddr_un directory = address_of(OTHER_STRANGER);

    close(stranger_listens(STRANGER, false)); /* died before it was known */
    make_file("README");
    make_file("12-0123456789abcdef.new");
    make_file("x-0123456789abcdef.bus");
    make_file("1-0123456789ABCDEF.bus");
    make_file("1-0123456789abcdef0.bus");
    make_file("12345678901-0123456789abcdef.bus");
    CHECK_EQUAL(0, mkdir(directory.sun_path, 0700));
    CHECK_EQUAL(0, join_bus(&member, folder));
    CHECK_EQUAL(0, publish(&member, "nobody is there"));
    CHECK(uw_list_empty(&member.bus.senders.links));
    leave_bus(&member);
    CHECK_EQUAL(7, count_files()); /* without the socket */
    CHECK_EQUAL(0, rmdir(directory.sun_path));
    remove_file("README");
    remove_file("12-0123456789abcdef.new");
    remove_file("x-0123456789abcdef.bus");
    remove_file("1-0123456789ABCDEF.bus");
    remove_file("1-0123456789abcdef0.bus");
    remove_file("12345678901-0123456789abcdef.bus");
}

TEST(strange_files_are_left_alone_and_a_dead_socket_is_removed)
{
    on_every_backend(strange_files);
}

static void check_cannot_join(int error, const char *where)
{
    struct member member;

    CHECK_EQUAL(error, join_bus(&member, where));
    CHECK_EQUAL(0, uw_loop_turn(&member.loop, 0));
    leave_bus(&member);
}

static void wrong_folders(void)
{
    char path[UW_BUS_FOLDER_BYTES_MAX + 2];

    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    check_cannot_join(-ENAMETOOLONG, path);
    path[sizeof path - 2] = '\0';
    check_cannot_join(-ENOENT, path);
    make_file("file");
    snprintf(path, sizeof path, "%s/file", folder);
    check_cannot_join(-ENOTDIR, path);
    remove_file("file");
    CHECK_EQUAL(0, chmod(folder, 0710));
    check_cannot_join(-EPERM, folder);
    CHECK_EQUAL(0, chmod(folder, 0700));
}

TEST(a_folder_that_is_none_or_too_far_or_open_to_others_is_refused)
{
    on_every_backend(wrong_folders);
}

TEST_MAIN
