/* Clients, one connection each at a time, that check every byte they get, and leave as they please. */
#ifndef UW_STRESS_CHECKING_CLIENT_H
#define UW_STRESS_CHECKING_CLIENT_H

#include <errno.h>
#include <sys/socket.h>

#include "stress_state.h"

#define PIPELINED_MAX 4
#define CONVERSATIONS_MAX 3 /* batches on a connection */

/* What a client does besides asking. */
enum manner { IS_FINE, IS_SLOW, LEAVES, RESETS, HALF_CLOSES, TALKS_NONSENSE, MANNERS };

struct client {
    struct dice dice;
    enum manner manner;
    int fd;
    char *request, *answer; /* of a batch */
    size_t request_bytes, answer_bytes;
    size_t least_bytes; /* of the answer */
    bool closes;        /* the connection ends with it */
};

static bool leaves_early(const struct client *client)
{
    return client->manner == LEAVES || client->manner == RESETS;
}

static bool connect_client(struct client *client)
{
    struct timeval patience = {.tv_sec = PATIENCE_SECONDS}, little = {.tv_usec = 1000};
    int buffer = 4096 << below(&client->dice, 6);

    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(client->fd >= 0);
    if (client->manner == IS_SLOW)
        REQUIRE(setsockopt(client->fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer) == 0);
    REQUIRE(setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, leaves_early(client) ? &little : &patience,
                       sizeof patience) == 0);
#ifdef SO_SNDTIMEO /* core/windows has none */
    REQUIRE(setsockopt(client->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0);
#endif
    if (connect(client->fd, (struct sockaddr *)&now.address, sizeof now.address) == 0)
        return true;
    close(client->fd);
    return false;
}

static void leave(struct client *client)
{
    struct linger at_once = {.l_onoff = 1};

    if (client->manner == RESETS)
        REQUIRE(setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
    close(client->fd);
}

/* Requests that are sent in one go; only the last may end the connection. */
static void write_batch(struct client *client)
{
    unsigned count = 1 + below(&client->dice, PIPELINED_MAX);

    client->request_bytes = client->answer_bytes = client->least_bytes = 0;
    client->closes = false;
    for (unsigned i = 0; i < count && !client->closes; i++) {
        struct plan plan = plan_of(roll(&client->dice));

        client->request_bytes += request_text(client->request + client->request_bytes, &plan);
        client->answer_bytes += answer_text(client->answer + client->answer_bytes, &plan);
        client->closes = plan.ending != ENDS_OPEN;
        /* Who aborts, and who takes the connection from a client that is late, drops what came before as well. */
        client->least_bytes = plan.ending == ENDS_ABORTED || plan.ending == ENDS_HIJACKED ? 0 : client->answer_bytes;
        if (plan.ending == ENDS_ABORTED)
            atomic_fetch_add(&counts.aborted, 1);
    }
}

/* The server may close before it has read all: an error is seen when reading. */
static void send_bytes_of(struct client *client, size_t length)
{
    size_t sent = 0;

    while (sent < length) {
        size_t part = one_in(&client->dice, 2) ? length - sent : 1 + size_below(&client->dice, length - sent);
        ssize_t count = send(client->fd, client->request + sent, part, MSG_NOSIGNAL);

        if (count < 0 && errno == EAGAIN)
            FAIL("a client waits in vain to send");
        if (count < 0)
            return;
        sent += (size_t)count;
        jitter(&client->dice);
    }
}

/* Reads up to `length` bytes and compares them; returns what came before the end, or fails when nothing comes. */
static size_t read_and_compare(struct client *client, size_t length)
{
    static _Thread_local char bytes[65536];
    size_t received = 0;

    while (received < length) {
        size_t part = client->manner == IS_SLOW ? 1 + below(&client->dice, sizeof bytes) : sizeof bytes;
        ssize_t count = recv(client->fd, bytes, part < length - received ? part : length - received, 0);

        if (count < 0 && errno == EAGAIN && !leaves_early(client))
            FAIL("a client waits in vain for %zu bytes after %zu", length - received, received);
        if (count <= 0)
            return received;
        if (memcmp(bytes, client->answer + received, (size_t)count))
            FAIL("a client got another's bytes, or in another order, after %zu", received);
        received += (size_t)count;
        if (client->manner == IS_SLOW)
            jitter(&client->dice);
    }
    return received;
}

static void expect_end(const struct client *client)
{
    char byte;
    ssize_t count = recv(client->fd, &byte, 1, 0);

    if (count > 0)
        FAIL("a client got '%c' after the end", byte);
    if (count < 0 && errno == EAGAIN)
        FAIL("a connection is not closed after its last answer");
}

/* Returns whether the connection goes on. */
static bool read_batch(struct client *client, bool half_closed)
{
    size_t received = read_and_compare(client, client->answer_bytes);

    /* A full server closes an idle connection for a new client, perhaps as its next request is on its way. */
    if (received == 0 && atomic_load(&now.is_small))
        return false;
    /* A server that ends closes kept connections, but only between answers, and what it has not seen it may drop. */
    if (received < client->least_bytes && !atomic_load(&now.cut) && !(atomic_load(&now.ending)))
        FAIL("a client got %zu bytes of %zu", received, client->least_bytes);
    if (received == client->answer_bytes)
        atomic_fetch_add(&counts.answered, 1);
    if (received < client->answer_bytes)
        return false;
    if (client->closes || half_closed)
        expect_end(client);
    return !client->closes && !half_closed;
}

static bool converse(struct client *client)
{
    bool hijacks, last = client->manner == HALF_CLOSES;

    write_batch(client);
    hijacks = client->closes;
    send_bytes_of(client, client->request_bytes);
    if (hijacks || last) {
        (void)shutdown(client->fd, SHUT_WR);
        atomic_fetch_add(&counts.half_closed, 1);
    }
    return read_batch(client, hijacks || last) && !last;
}

/* Says only a part, and reads only a part. */
static void leave_early(struct client *client)
{
    write_batch(client);
    send_bytes_of(client, size_below(&client->dice, client->request_bytes + 1));
    if (one_in(&client->dice, 2))
        (void)read_and_compare(client, one_in(&client->dice, 2) ? size_below(&client->dice, client->answer_bytes) : 1);
    atomic_fetch_add(client->manner == RESETS ? &counts.reset : &counts.left, 1);
}

static void talk_nonsense(struct client *client)
{
    static const char answer[] = "HTTP/1.1 400 Bad Request\r\n";

    client->request_bytes = (size_t)snprintf(client->request, REQUEST_BYTES_MAX, "NONSENSE\r\n\r\n");
    memcpy(client->answer, answer, sizeof answer);
    send_bytes_of(client, client->request_bytes);
    if (read_and_compare(client, sizeof answer - 1) == sizeof answer - 1)
        atomic_fetch_add(&counts.refused, 1);
}

static void visit(struct client *client)
{
    unsigned conversations = 1 + below(&client->dice, CONVERSATIONS_MAX);

    if (leaves_early(client))
        leave_early(client);
    else if (client->manner == TALKS_NONSENSE)
        talk_nonsense(client);
    else
        while (conversations-- && converse(client))
            continue;
    leave(client);
}

static void *be_clients(void *argument)
{
    struct client client = {.dice = {*(uint64_t *)argument}};

    client.request = malloc((size_t)PIPELINED_MAX * REQUEST_BYTES_MAX);
    client.answer = malloc((size_t)PIPELINED_MAX * ANSWER_BYTES_MAX);
    REQUIRE(client.request && client.answer);
    while (!atomic_load(&now.ending)) {
        client.manner = one_in(&client.dice, 2) ? IS_FINE : below(&client.dice, MANNERS);
        if (connect_client(&client))
            visit(&client);
    }
    free(client.request);
    free(client.answer);
    return NULL;
}

#endif
