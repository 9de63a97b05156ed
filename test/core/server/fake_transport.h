/* A transport over memory, for a connection without a kernel's socket: what the client sends comes in pieces of any
 * size, what it takes is as little as is wanted, and every call may fail. Nothing happens by itself: fake_step tells
 * one thing that a real transport would tell. */
#ifndef UW_TEST_FAKE_TRANSPORT_H
#define UW_TEST_FAKE_TRANSPORT_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/connection.h"
#include "server/listener.h"
#include "transport/transport.h"

#define FAKE_NEVER SIZE_MAX
#define FAKE_CLIENT_GOES_ON INT32_MAX

struct fake {
    /* What the test wants. */
    const char *input;
    size_t input_length;
    size_t piece;       /* bytes received at once; 0: all there are */
    int32_t input_ends; /* after `input`: 0, or -errno; or FAKE_CLIENT_GOES_ON */
    size_t send_most;   /* bytes taken at once; 0: all */
    bool gathers;       /* several chunks by one send, as TLS does */
    bool holds_sends;   /* a send does not end */
    size_t sends_fail_after;
    int32_t send_error;              /* then: 0 or -errno */
    int open_error;                  /* of `open`: -ENOMEM */
    bool shakes_hands;               /* is ready only when fake_ready is called */
    int shut_error;                  /* of `shut`: -errno */
    bool keeps_last_word;            /* `shut` has something to say for which there is no room */
    bool settles_at_once;            /* within `close`, even when something is under way */
    void (*fails)(const char *what); /* told what a connection must not do */

    /* What has happened. */
    struct uw_endpoint *endpoint; /* NULL: not opened yet, or released */
    size_t received, sends;
    char *output; /* the caller frees it: fake_free */
    size_t output_length;
    bool receiving, pausing, shut, closed, released;
    bool lost_last_word; /* closed before it had left */
    char *staged;
    size_t staged_length;
};

static struct fake *fake_next; /* which the connection that is opened now is given */

static inline struct fake *fake_of(const struct uw_endpoint *endpoint)
{
    return (struct fake *)endpoint->tls;
}

static inline void fake_must(const struct fake *fake, bool right, const char *what)
{
    if (!right)
        fake->fails(what);
}

static inline void fake_ready(struct fake *fake)
{
    fake->endpoint->owner->ready(fake->endpoint);
}

static inline int fake_open(struct uw_endpoint *endpoint)
{
    struct fake *fake = fake_next;

    endpoint->tls = (struct uw_tls *)fake;
    fake->endpoint = endpoint;
    if (!fake->open_error && !fake->shakes_hands)
        fake_ready(fake);
    return fake->open_error;
}

static inline void fake_receive(struct uw_endpoint *endpoint)
{
    struct fake *fake = fake_of(endpoint);

    fake_must(fake, !fake->receiving && !endpoint->closed, "receive once, while open");
    fake->receiving = true;
}

static inline void fake_pause(struct uw_endpoint *endpoint)
{
    struct fake *fake = fake_of(endpoint);

    fake_must(fake, fake->receiving && !endpoint->closed, "pause what is received");
    fake->pausing = true;
}

static inline void fake_append(char **bytes, size_t *length, const void *more, size_t more_length)
{
    char *grown = realloc(*bytes, *length + more_length + 1);

    if (!grown)
        abort();
    memcpy(grown + *length, more, more_length);
    *bytes = grown;
    *length += more_length;
}

static inline void fake_stage_rest(struct fake *fake, const struct uw_chunk *chunk, size_t length)
{
    char *bytes = malloc(length + 1);

    if (!bytes)
        abort();
    if (chunk->memory)
        memcpy(bytes, chunk->memory + chunk->rest_offset, length);
    else
        length = (size_t)pread(chunk->file, bytes, length, chunk->rest_offset);
    fake_append(&fake->staged, &fake->staged_length, bytes, length);
    free(bytes);
}

/* Takes a copy of what is sent now: who has it sent may not change it. */
static inline void fake_stage(struct fake *fake, const struct uw_chunk *chunk, size_t capacity)
{
    size_t left = chunk->length - chunk->sent, rest = (size_t)chunk->rest_left;

    left = left < capacity ? left : capacity;
    fake_append(&fake->staged, &fake->staged_length, chunk->bytes + chunk->sent, left);
    rest = rest < capacity - left ? rest : capacity - left;
    if (rest)
        fake_stage_rest(fake, chunk, rest);
}

static inline void fake_send(struct uw_endpoint *endpoint, struct uw_chunk *first)
{
    struct fake *fake = fake_of(endpoint);
    size_t most = fake->send_most ? fake->send_most : UW_SEND_BYTES_MAX;

    fake_must(fake, !endpoint->sending && !endpoint->closed && !fake->shut, "send one thing at a time, while open");
    fake_must(fake, uw_chunk_left(first) > 0, "send something");
    fake->staged_length = 0;
    for (; first && fake->staged_length < most; first = fake->gathers ? first->next : NULL)
        fake_stage(fake, first, most - fake->staged_length);
    endpoint->sending = true;
}

static inline size_t fake_progress(const struct uw_endpoint *endpoint)
{
    (void)endpoint;
    return 0;
}

static inline int fake_shut(struct uw_endpoint *endpoint)
{
    struct fake *fake = fake_of(endpoint);

    fake_must(fake, !fake->shut && !endpoint->sending && !endpoint->closed, "shut once, when all is sent");
    fake->shut = true;
    endpoint->send.pending = fake->keeps_last_word;
    return fake->shut_error;
}

static inline void fake_settle(struct uw_endpoint *endpoint)
{
    struct fake *fake = fake_of(endpoint);

    fake->receiving = fake->pausing = endpoint->sending = endpoint->send.pending = false;
    endpoint->settled = true;
    endpoint->owner->settled(endpoint);
}

static inline void fake_close(struct uw_endpoint *endpoint)
{
    struct fake *fake = fake_of(endpoint);

    fake_must(fake, !endpoint->closed, "close once");
    endpoint->closed = fake->closed = true;
    fake->lost_last_word = endpoint->send.pending;
    if (fake->settles_at_once || !(fake->receiving || endpoint->sending))
        fake_settle(endpoint);
}

static inline void fake_release(struct uw_endpoint *endpoint)
{
    struct fake *fake = fake_of(endpoint);

    fake_must(fake, !fake->released, "release once");
    fake->released = true;
    fake->endpoint = NULL;
    endpoint->tls = NULL;
}

static const struct uw_transport fake_transport = {
    .name = "fake",
    .open = fake_open,
    .receive = fake_receive,
    .pause = fake_pause,
    .send = fake_send,
    .progress = fake_progress,
    .shut = fake_shut,
    .close = fake_close,
    .release = fake_release,
};

/* Nothing is told once the connection is closed but that it has settled. Returns whether there was something to tell.
 */
static inline bool fake_settle_step(struct fake *fake)
{
    if (!fake->endpoint->closed || fake->endpoint->settled)
        return false;
    fake_settle(fake->endpoint);
    return true;
}

static inline bool fake_send_step(struct fake *fake)
{
    struct uw_endpoint *endpoint = fake->endpoint;
    int64_t result = (int64_t)fake->staged_length;

    if (!endpoint->sending || endpoint->closed || fake->holds_sends)
        return false;
    endpoint->sending = false;
    if (fake->sends++ >= fake->sends_fail_after)
        result = fake->send_error;
    else
        fake_append(&fake->output, &fake->output_length, fake->staged, fake->staged_length);
    endpoint->owner->sent(endpoint, result);
    return true;
}

static inline bool fake_end_receiving(struct fake *fake, int32_t result)
{
    fake->receiving = fake->pausing = false;
    fake->endpoint->owner->receive_ended(fake->endpoint, result);
    return true;
}

/* In memory of its own size, so that a sanitizer sees who reads beyond, or later. */
static inline bool fake_receive_piece(struct fake *fake, size_t length)
{
    char *bytes = malloc(length);

    if (!bytes)
        abort();
    memcpy(bytes, fake->input + fake->received, length);
    fake->received += length;
    fake->endpoint->owner->received(fake->endpoint, bytes, length);
    free(bytes);
    return true;
}

static inline bool fake_receive_step(struct fake *fake)
{
    size_t left = fake->input_length - fake->received;

    if (!fake->receiving || fake->endpoint->closed)
        return false;
    if (fake->pausing)
        return fake_end_receiving(fake, -ECANCELED);
    if (left)
        return fake_receive_piece(fake, fake->piece && fake->piece < left ? fake->piece : left);
    return fake->input_ends != FAKE_CLIENT_GOES_ON && fake_end_receiving(fake, fake->input_ends);
}

/* Tells one thing: what has been sent goes before what has come. Returns whether there was anything to tell. */
static inline bool fake_step(struct fake *fake)
{
    return fake->endpoint && (fake_settle_step(fake) || fake_send_step(fake) || fake_receive_step(fake));
}

static inline void fake_free(struct fake *fake)
{
    free(fake->output);
    free(fake->staged);
    fake->output = fake->staged = NULL;
    fake->output_length = fake->staged_length = 0;
}

/* Any descriptor that has a peer: a connection asks who its client is. The fake transport never uses it. */
static inline int fake_descriptor(void)
{
    static int ends[2] = {-1, -1};

    if (ends[0] < 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        abort();
    return dup(ends[0]);
}

/* The connection is opened within `server_context`, and begins with `fake`. */
static inline void fake_connect(struct uw_server_context *server_context, const struct uw_protocol *protocol,
                                struct fake *fake)
{
    static const struct uw_protocol *protocols[2];
    static struct uw_listener listener = {.transport = &fake_transport, .address = "127.0.0.1", .port = 80};

    protocols[0] = protocol;
    listener.protocols = protocols;
    fake_next = fake;
    uw_connection_open(server_context, &listener, fake_descriptor());
}

#endif
