/* A request, from its first byte until its response has been handed over; and what a handler may do with it. */
#ifndef UW_SERVER_REQUEST_H
#define UW_SERVER_REQUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/head.h"
#include "server/body.h"
#include "server/stream.h"
#include "transport/chunk.h"

#define UW_REQUEST_HEAD_BYTES 1024 /* kept in the structure; a longer head is allocated */

/* Above the high mark a producer should pause until told that the low mark is reached. */
#define UW_OUTGOING_HIGH_BYTES (256 * 1024)
#define UW_OUTGOING_LOW_BYTES (64 * 1024)

struct uw_access;
struct uw_client;
struct uw_protocol;
struct uw_response_writer;
struct uw_service;
struct uw_tls_peer;

enum uw_event {
    UW_EVENT_REQUEST = 1, /* a request is complete and waits for its response */
    UW_EVENT_DRAINED = 2, /* uw_request_await_drain's answer: produce more, or see that the client is gone */
    UW_EVENT_CLIENT = 3,  /* the request carries an event of a client that stays, and has no head */
};

/* Whoever answers requests. `notify` is called on the loop's thread; it may answer at once or queue the request for
 * others. */
struct uw_handler {
    void *context;
    void (*notify)(void *context, struct uw_request *request, enum uw_event event);

    /* Told, on the loop's thread, of what the server refuses by itself; or NULL. */
    void (*refused)(void *context, const struct uw_access *refusal);

    /* Descriptors run short, as the loop's thread finds: closes those that are kept only in case they are asked for.
     * Returns how many. Or NULL. */
    size_t (*give_up)(void *context);
};

struct uw_request {
    struct uw_request *next; /* the handler's, for a queue */
    struct uw_service *service;
    struct uw_stream *stream; /* NULL once finished */
    const struct uw_protocol *protocol;
    const struct uw_response_writer *writer; /* the protocol's */
    void *user;                              /* the handler's */
    struct uw_client *client; /* who has the connection once it is upgraded; or whose event this is; or NULL */
    uint8_t client_event;     /* in the latter case: see push/client.h */
    bool ascii;               /* a text all of which is */
    uint32_t inflated_bytes;  /* which count to the service's */
    struct uw_chunk *last;    /* likewise: finishes it, for which memory shall not be needed; or NULL */

    struct uw_http_head head;
    char *bytes; /* what head's slices point into */
    uint32_t bytes_length, bytes_capacity;
    struct uw_body body;

    atomic_bool await_drain;
    atomic_bool lost;   /* the client is gone: what is handed over is dropped */
    atomic_uint posted; /* messages about it on their way to the loop; whatever comes after them takes the same way */

    char inline_bytes[UW_REQUEST_HEAD_BYTES];
};

/* For protocols. A request without bytes, which counts to `stream`; NULL when memory is exhausted. */
struct uw_request *uw_request_new(struct uw_service *service, struct uw_stream *stream,
                                  const struct uw_protocol *protocol);
void uw_request_free(struct uw_request *request);

#define UW_REQUEST_BYTES_MAX (UINT32_MAX / 2)

/* Room for `length` bytes in all, of which UW_REQUEST_BYTES_MAX may be. Returns 0 or -ENOMEM. */
int uw_request_reserve(struct uw_request *request, size_t length);

/* Room for `length` more bytes behind those that there are, and which count as being there; NULL when memory is
 * exhausted. */
char *uw_request_extend(struct uw_request *request, size_t length);

/* Appends bytes to what the head's slices point into. Returns 0 or -ENOMEM. */
int uw_request_keep(struct uw_request *request, const char *bytes, size_t length);

/* Its client is gone: the handler hears of the loss when it next looks, or now if it waits. */
void uw_request_lose(struct uw_request *request);

/* A producer that waits goes on when little is left. */
void uw_request_tell_drained(struct uw_request *request);

/* A detached connection: uw_request_detach. */
struct uw_detached {
    struct uw_message message;
    struct uw_request *request;
    void (*done)(struct uw_detached *detached);
    struct uw_chunk *head; /* what is to go out before, or NULL; when done, the caller's again unless it has begun to */
    bool head_begun;
    size_t outgoing; /* when the loop last looked */
    int looks_left;  /* until it gives up */
    int fd;          /* the caller's from now on; -1 when the connection was not to be had */
    char *bytes;     /* received beyond the request, to be freed by the caller; NULL when there are none */
    size_t length;   /* of `bytes` */
};

static inline const char *uw_request_text(const struct uw_request *request, struct uw_http_slice slice)
{
    return request->bytes + slice.offset;
}

/* Hands over a piece of the response. On the loop's thread; what other threads have posted goes out before. */
void uw_request_send(struct uw_request *request, struct uw_chunk *chunk);

/* The response cannot be made, or not be completed: the connection is closed at once, so that the client sees it. On
 * the loop's thread, when nothing was posted. */
void uw_request_abort(struct uw_request *request);

/* The same as uw_request_send from any thread. After a chunk flagged UW_CHUNK_FINISH, from whichever thread, the
 * request is nobody's any more: those who share it agree on who hands over what comes last. */
void uw_request_post(struct uw_request *request, struct uw_chunk *chunk);

/* Whether the response may leave the connection open. Any thread. */
bool uw_request_keeps_alive(const struct uw_request *request);

/* Asks for UW_EVENT_DRAINED, which may come before this returns: whoever asks goes on, and nobody in its place. Returns
 * false when there is no need to wait: little is outgoing, or the client is gone.
 * Any thread. */
bool uw_request_await_drain(struct uw_request *request);

/* The client's address as text and its port, and the server's; the port of a UNIX socket is 0. They stay as they were
 * at accepting, and are valid as long as the connection. Any thread. */
const char *uw_request_remote(const struct uw_request *request);
int uw_request_remote_port(const struct uw_request *request);
const char *uw_request_local(const struct uw_request *request, int *port);

/* What is agreed upon with a client of TLS, for as long; NULL without it. Any thread. */
const struct uw_tls_peer *uw_request_peer(const struct uw_request *request);

/* How much of what was handed over has not been sent yet. On the loop's thread, before the request is finished. */
size_t uw_request_outgoing(const struct uw_request *request);

/* Closes the connection at once: the client is gone for the request, which remains to be finished. On the loop's
 * thread. */
void uw_request_disconnect(struct uw_request *request);

/* Takes the connection away from the server once what was handed over, and `detached->head` behind it, has been sent:
 * `detached->done` is called on the loop's thread, in a later turn. The request remains to be finished, with an empty
 * chunk. Of a client that takes none of its earlier answers for UW_DETACH_STALL_NS, or not all while the loop looks
 * UW_DETACH_LOOKS times, the connection stays the server's, and the request remains to be answered. Any thread. */
void uw_request_detach(struct uw_request *request, struct uw_detached *detached);

#endif
