/* A request, from its first byte until its response has been handed over, and the operations of a handler on it. */
#ifndef UW_SERVER_REQUEST_H
#define UW_SERVER_REQUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/request_head.h"
#include "log/system_error.h"
#include "server/request_id.h"
#include "server/spooled_body.h"
#include "server/stream.h"
#include "transport/chunk.h"

#define UW_REQUEST_HEAD_BYTES 1024 /* stored in the structure; a longer head is allocated */

/* Above the high mark a producer should pause until output falls to the low mark. */
#define UW_OUTGOING_HIGH_BYTES (256 * 1024)
#define UW_OUTGOING_LOW_BYTES (64 * 1024)

struct uw_access_record;
struct uw_push_client;
struct uw_request_calls;
struct uw_response_writer;
struct uw_server_context;
struct uw_tls_peer;

enum uw_event {
    UW_EVENT_REQUEST = 1, /* a request is complete and waits for its response */
    UW_EVENT_DRAINED = 2, /* uw_request_await_drain's answer: produce more, or see that the client is gone */
    UW_EVENT_PUSH = 3,    /* the request carries an event of a long-lived client, and has no head */
};

/* The handler answers requests. `notify` runs on the loop's thread. It may answer at once or queue the request for
 * other threads. */
struct uw_handler {
    void *context;
    void (*notify)(void *context, struct uw_request *request, enum uw_event event);

    /* Reports a response on the loop's thread, before the request is gone. Runs once for each request: when its
     * response is finished or aborted, or when its connection goes over to the application or to another protocol. May
     * be NULL. */
    void (*answered)(void *context, struct uw_request *request);

    /* Reports, on the loop's thread, a request that the server has refused by itself. May be NULL. */
    void (*refused)(void *context, const struct uw_access_record *refusal);

    /* Reports, on the loop's thread, an error of the system. `where` is a directory, a file or NULL. May be NULL. */
    void (*troubled)(void *context, enum uw_system_error trouble, const char *where, int error);

    /* Descriptors have run out. The loop's thread calls this to close cached descriptors. Returns the number closed.
     * May be NULL. */
    size_t (*give_up)(void *context);

    bool accepts_websockets; /* then the server refuses other versions */
};

/* The response, for `answered`. The handler sets it before it hands over the last chunk or the connection. */
struct uw_outcome {
    int status;                 /* 0: there was no response */
    int64_t content_bytes;      /* handed over so far */
    int64_t begun_ns, ended_ns; /* of the application, on the loop's clock; 0: the application was not called */
};

struct uw_request {
    struct uw_request *next; /* the handler's, for a queue */
    struct uw_server_context *server_context;
    struct uw_stream *stream;                /* NULL once finished */
    const struct uw_request_calls *calls;    /* the protocol's */
    const struct uw_response_writer *writer; /* the calls' */
    void *user;                              /* the handler's */
    struct uw_push_client *client;           /* an upgraded connection's, or this event's; or NULL */
    uint8_t client_event;                    /* of an event: see push/push_client.h */
    bool ascii;                              /* a text of ASCII characters alone */
    uint32_t inflated_bytes;                 /* which count to server_context->inflated_bytes */
    struct uw_chunk *last;                   /* an event's final chunk, allocated in advance; or NULL */

    struct uw_http_head head;
    char *bytes; /* head's slices point into this */
    uint32_t bytes_length, bytes_capacity;
    struct uw_spooled_body body;

    atomic_bool await_drain;
    atomic_bool client_gone; /* the client is gone: later chunks are dropped */
    atomic_uint posted;      /* messages of this request on their way to the loop; later calls must be posted, too */

    struct uw_outcome outcome;
    int64_t complete_ns; /* when the request was complete; 0: it is not */
    bool sent;           /* the whole response, before its report */
    bool reported;       /* by handler.answered */
    uint8_t id_length;   /* 0: see uw_request_identify */
    char id[UW_REQUEST_ID_BYTES_MAX];

    char inline_bytes[UW_REQUEST_HEAD_BYTES];
};

/* For protocols. Creates a request without bytes, whose output counts to `stream`. Returns NULL when memory is
 * exhausted. */
struct uw_request *uw_request_new(struct uw_server_context *server_context, struct uw_stream *stream,
                                  const struct uw_request_calls *calls);
void uw_request_free(struct uw_request *request);

#define UW_REQUEST_BYTES_MAX (UINT32_MAX / 2)

/* Allocates space for `length` bytes in all, at most UW_REQUEST_BYTES_MAX. Returns 0 or -ENOMEM. */
int uw_request_reserve(struct uw_request *request, size_t length);

/* Adds `length` bytes and returns the address to write them to. Returns NULL when memory is exhausted. */
char *uw_request_extend(struct uw_request *request, size_t length);

/* Appends bytes to `bytes`, into which the head's slices point. Returns 0 or -ENOMEM. */
int uw_request_keep(struct uw_request *request, const char *bytes, size_t length);

/* Marks the request's client as gone. A waiting handler is notified now; any other sees it at its next check. */
void uw_request_mark_client_gone(struct uw_request *request);

/* Bytes of the response are dropped: they do not count as content. The head and the framing of chunks are included, so
 * that the rest is approximate. */
void uw_request_count_unsent(struct uw_request *request, size_t bytes);

/* Reports the response by handler.answered, unless it has been reported. On the loop's thread. */
void uw_request_report(struct uw_request *request);

/* Notifies a waiting producer when little is outgoing. */
void uw_request_notify_drained(struct uw_request *request);

/* A detached connection: uw_request_detach. */
struct uw_detached {
    struct uw_message message;
    struct uw_request *request;
    void (*done)(struct uw_detached *detached);
    struct uw_chunk *head; /* sent before the handover; may be NULL. The caller's again unless `head_begun` */
    bool head_begun;
    size_t outgoing; /* when the loop last looked */
    int looks_left;  /* until the loop stops the detach */
    int fd;          /* owned by the caller; -1 when the detach failed */
    char *bytes;     /* received after the request, to be freed by the caller; NULL when there are none */
    size_t length;   /* of `bytes` */
};

static inline const char *uw_request_text(const struct uw_request *request, struct uw_http_slice slice)
{
    return request->bytes + slice.offset;
}

/* Sends a piece of the response. On the loop's thread; pieces that other threads have posted are sent first. */
void uw_request_send(struct uw_request *request, struct uw_chunk *chunk);

/* The response cannot be made, or not be completed: the connection is closed at once, so that the client sees it. On
 * the loop's thread, when nothing was posted. */
void uw_request_abort(struct uw_request *request);

/* uw_request_send for any thread. A chunk flagged UW_CHUNK_FINISH, from any thread, ends the request's life. Threads
 * that share a request must agree on the sender of the last chunk. */
void uw_request_post(struct uw_request *request, struct uw_chunk *chunk);

/* Whether the connection may be kept open after the response. Any thread. */
bool uw_request_keeps_alive(const struct uw_request *request);

/* Requests UW_EVENT_DRAINED, which may come before this returns: the thread that gets the event continues, and no
 * other. Returns false when waiting is unnecessary: little is outgoing, or the client is gone. Any thread. */
bool uw_request_await_drain(struct uw_request *request);

/* Whether the client has gone, or has closed its side of the connection. `looks`: a system call looks at the socket,
 * too, since the loop notices nothing while the application keeps its thread. On the loop's thread. */
bool uw_request_is_abandoned(const struct uw_request *request, bool looks);

/* The client's address as text and its port, and the server's; the port of a UNIX socket is 0. They do not change after
 * accepting, and are valid as long as the connection. Any thread. */
const char *uw_request_remote(const struct uw_request *request);
int uw_request_remote_port(const struct uw_request *request);
const char *uw_request_local(const struct uw_request *request, int *port);

/* Returns the TLS parameters agreed with the client, valid as long as the connection; NULL without TLS. Any thread. */
const struct uw_tls_peer *uw_request_peer(const struct uw_request *request);

/* Returns the version of TLS, such as "TLSv1.3"; NULL without TLS. */
const char *uw_request_tls_version(const struct uw_request *request);

/* Returns the number of response bytes not sent yet. On the loop's thread, before the request is finished. */
size_t uw_request_outgoing(const struct uw_request *request);

/* Closes the connection at once: the client is gone for the request, which remains to be finished. On the loop's
 * thread. */
void uw_request_disconnect(struct uw_request *request);

/* Detaches the connection from the server after earlier output, and then `detached->head`, has been sent.
 * `detached->done` runs on the loop's thread, in a later iteration. The request must then be finished with an empty
 * chunk. The detach fails, and the request must be answered, if the client receives no earlier output for
 * UW_DETACH_STALL_NS, or not all within UW_DETACH_LOOKS checks. Any thread. */
void uw_request_detach(struct uw_request *request, struct uw_detached *detached);

#endif
