/* A long-lived client: a WebSocket, or a stream of server-sent events. The application may write to it at any time,
 * from any thread. The client's input becomes events, which the handler serves one after another, like requests.
 *
 * The client writes to its stream. Another protocol carries the stream: see push_client_connection.h.
 *
 * Clients are reference-counted. The stream, the creator, and each message on its way to the loop have a reference.
 * Functions belong to the loop's thread unless their comment says "any thread".
 *
 * A server that is stopped or closed sends the handler no more events, not even UW_PUSH_CLOSED, and accepts no posts. A
 * draining server sends all events. When memory is exhausted, UW_PUSH_CLOSED may be missing, too. */
#ifndef UW_PUSH_PUSH_CLIENT_H
#define UW_PUSH_PUSH_CLIENT_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "server/module.h"
#include "server/server_context.h"

#define UW_INBOX_EVENTS_MAX 16         /* that wait for the handler; then the client is not read for a while */
#define UW_INBOX_BYTES_MAX (64 * 1024) /* of these events */
#define UW_INFLATED_BYTES_MAX (64 * 1024 * 1024) /* of decompressed messages; then long ones wait */
#define UW_PUSH_REASON_BYTES_MAX 123             /* of a close: RFC 6455, section 5.5.1 */

/* The event that a request carries beside its bytes; its head is not set. The handler serves each event like a request,
 * and finishes it with uw_push_client_event_end's chunk. */
enum uw_push_client_event {
    UW_PUSH_OPENED = 1,
    UW_PUSH_TEXT,
    UW_PUSH_BINARY,
    UW_PUSH_DRAINED,   /* all that was written has been sent */
    UW_PUSH_SHUTDOWN,  /* the server ends: the client will be closed after this */
    UW_PUSH_CLOSED,    /* the last event; a client whose connection closed before it opened gets this one, too */
    UW_PUSH_PUBLISHED, /* in a channel that it has subscribed to: see pub_sub/subscriptions.h */
    UW_PUSH_REFUSED,   /* a subscription from another thread failed: too many patterns, or no memory */
    UW_PUSH_WOKEN,     /* uw_push_client_wake */
};

struct uw_push_client;
struct uw_request_calls;

extern const struct uw_module uw_module_push;

/* The functions of a protocol for long-lived clients. The protocol keeps its state in client->state. */
struct uw_push_client_kind {
    size_t state_bytes;                         /* of the protocol's state */
    bool is_event_stream;                       /* for the metrics */
    const struct uw_request_calls *event_calls; /* of the requests that carry events */

    /* The client has its stream. Returns false when memory is exhausted: the stream is then closed. May be NULL. */
    bool (*attached)(struct uw_push_client *client);

    /* A message as it is sent, in a chunk of `slab` where it fits, or NULL when memory is exhausted. `slab` may be
     * NULL: then any thread. */
    struct uw_chunk *(*frame)(struct uw_slab *slab, bool text, const char *bytes, size_t length);

    /* Runs before sending, on the loop's thread. May compress the chunk; the result depends on the client's window
     * alone. May be NULL. */
    void (*prepare)(struct uw_push_client *client, struct uw_chunk *chunk);

    /* Sends the close code (RFC 6455) and the reason to the client, and ends it. */
    void (*end)(struct uw_push_client *client, unsigned code, const char *reason, size_t length);

    /* The calls of the protocol that carries the stream, on the loop's thread. They mean what they mean in uw_protocol.
     * `released` runs once the stream has been closed, perhaps more than once, and may be NULL. */
    void (*received)(struct uw_push_client *client, const char *bytes, size_t length);
    void (*receive_ended)(struct uw_push_client *client, int32_t result);
    void (*sent)(struct uw_push_client *client);
    void (*resume)(struct uw_push_client *client);
    void (*timed_out)(struct uw_push_client *client);
    void (*released)(struct uw_push_client *client);
};

/* Callbacks for subscriptions.h: the handler has served an event, and the client has ended. */
struct uw_push_client_subscriber {
    void (*served)(struct uw_push_client *client);
    void (*ended)(struct uw_push_client *client);
};

struct uw_push_client {
    const struct uw_push_client_kind *kind;
    struct uw_server_context *server_context;
    void *user;              /* the handler's */
    struct uw_stream stream; /* the client's own; carried by a protocol once the client is attached */
    atomic_uint references;
    atomic_bool ending;                   /* later messages for the client are dropped */
    atomic_bool wants_drained;            /* the handler wants UW_PUSH_DRAINED */
    atomic_int_least64_t idle_timeout_ns; /* time without bytes, after which the server checks the client */
    bool opened, end_notified;            /* to the handler */
    unsigned early_end_code;              /* with which the client is closed as soon as it is open; or 0 */
    bool drained_waits;                   /* in the inbox */
    bool leaving;                         /* the server drains: the time of the client's close is set */
    bool input_ended;                     /* uw_push_client_end_input */
    bool asked;                           /* the server has checked the client, which has time to answer */
    bool held_back;                       /* the inbox is full: the protocol must continue once there is space */
    struct uw_list inflate_link;          /* in server_context->inflate_waiters */
    int window_bits;                      /* of the client's compression; 0 without compression */
    struct uw_request *current;           /* the handler has it */
    struct uw_request *first, **last;     /* events that wait */
    unsigned waiting;                     /* of them */
    size_t waiting_bytes;                 /* their content */
    struct uw_list process_subscribers;   /* for a client without a connection, see process_subscriber.h */
    const struct uw_push_client_subscriber *subscriber; /* NULL: it has never subscribed */
    struct uw_list subscriptions, published;            /* of subscriptions.h: `published` waits for the handler */
    atomic_uint subscribed;                             /* the number of subscriptions, reserved ones included */
    unsigned published_waiting;
    size_t published_bytes;                 /* of those that wait */
    bool published_told, published_telling; /* an event for a message waits; such an event is being posted */
    struct uw_message end_message;          /* uw_push_client_post_end */
    struct uw_message idle_timeout_message; /* uw_push_client_post_idle_timeout */
    struct uw_message wake_message;         /* uw_push_client_post_wake */
    atomic_bool end_posted, idle_timeout_posted, wake_posted;
    unsigned end_code;
    size_t end_reason_length;
    char *end_reason;
    alignas(max_align_t) char state[]; /* the protocol's, zeroed at first */
};

/* Returns a client without a stream yet, with one reference; NULL when memory is exhausted. Any thread. */
struct uw_push_client *uw_push_client_new(struct uw_server_context *server_context,
                                          const struct uw_push_client_kind *kind, void *user);

/* Any thread. The last release frees the client. */
void uw_push_client_retain(struct uw_push_client *client);
void uw_push_client_release(struct uw_push_client *client);

/* For protocols that carry streams: `calls` carry the client's stream on `connection` from now on. The stream is closed
 * when memory is exhausted. */
void uw_push_client_carry(struct uw_push_client *client, const struct uw_stream_calls *calls,
                          struct uw_connection *connection);

/* For protocols that carry streams: the client is open, and may receive. The protocol decides from now on when to check
 * whether the client is still there. */
void uw_push_client_open(struct uw_push_client *client);

/* For protocols: creates a request that carries an event, to be posted or freed. Returns NULL when memory is exhausted.
 * uw_push_client_notify posts it. */
struct uw_request *uw_push_client_event_new(struct uw_push_client *client, enum uw_push_client_event event);
void uw_push_client_notify(struct uw_push_client *client, struct uw_request *request);

/* For the handler: returns the empty chunk that finishes an event, once. The chunk is allocated with the event. Any
 * thread. */
struct uw_chunk *uw_push_client_event_end(struct uw_request *request, bool failed);

/* Posts an event without bytes. Returns false when memory is exhausted. */
bool uw_push_client_notify_plain(struct uw_push_client *client, enum uw_push_client_event event);

/* Posts UW_PUSH_REFUSED. Closes the client when memory is exhausted, since it would wait for messages that never
 * come. */
void uw_push_client_notify_refused(struct uw_push_client *client);

/* Posts UW_PUSH_WOKEN, in order with the client's other events and never after UW_PUSH_CLOSED. The second function
 * is for any thread. */
void uw_push_client_wake(struct uw_push_client *client);
void uw_push_client_post_wake(struct uw_push_client *client);

/* For protocols: the operations on requests that carry events. */
extern const struct uw_request_calls uw_push_client_event_calls;
size_t uw_push_client_outgoing(const struct uw_request *request);
void uw_push_client_disconnect(struct uw_request *request);
void uw_push_client_take_over(struct uw_request *request, struct uw_chunk *chunk);
void uw_push_client_abort(struct uw_request *request);
void uw_push_client_detach(struct uw_request *request, struct uw_detached *detached);

/* For protocols: the client sends no more. The handler still serves events already received; then the client ends. Its
 * subscriptions end at once, since the handler may never serve all events. */
void uw_push_client_end_input(struct uw_push_client *client);

/* For protocols: less is outgoing; the stream is closed; whether it may be freed, which requires that the handler has
 * served all events; the loop has been closed. */
void uw_push_client_sent(struct uw_push_client *client);
void uw_push_client_closed(struct uw_push_client *client);
bool uw_push_client_is_done(struct uw_push_client *client);
void uw_push_client_discard(struct uw_push_client *client);

/* Whether the handler has served all events so far. */
bool uw_push_client_is_served(const struct uw_push_client *client);

/* Starts the idle time-out, after which the protocol's timed_out is called. Does nothing for a client that drains,
 * ends, or has an unanswered ping: other deadlines apply there. */
void uw_push_client_start_idle_timeout(struct uw_push_client *client, int64_t now_ns);

/* Whether the inbox is full, so that the protocol must read no more. */
bool uw_push_client_is_full(const struct uw_push_client *client);

/* A thousand compressed bytes may become a million. Decompressed messages longer than UW_INBOX_BYTES_MAX use a shared
 * budget until they are served. Without budget the client waits, and its protocol's `resume` runs when there may be
 * some. */
bool uw_push_client_has_inflate_budget(const struct uw_push_client *client);
void uw_push_client_await_inflate_budget(struct uw_push_client *client);
void uw_push_client_take_inflate_budget(struct uw_push_client *client, struct uw_request *message);

/* Lets one waiting client continue, if there is budget. That client calls this again after it has used budget, has
 * continued without, or has ended. */
void uw_push_clients_resume_inflate(struct uw_server_context *server_context);

static inline bool uw_push_client_awaits_inflate_budget(const struct uw_push_client *client)
{
    return !uw_list_empty(&client->inflate_link);
}

/* Whether the application may still write. Any thread. */
static inline bool uw_push_client_is_open(const struct uw_push_client *client)
{
    return !atomic_load(&client->ending);
}

/* Whether too much is outgoing for further messages: then the caller ends the client with UW_CLOSE_POLICY. Any thread.
 */
bool uw_push_client_is_behind(const struct uw_push_client *client);

/* Has a message sent, in a chunk made by kind->frame. Returns false when the client is ending, and the chunk is gone.
 */
bool uw_push_client_send(struct uw_push_client *client, struct uw_chunk *chunk);

/* Sends a chunk that is framed and needs no preparation. */
bool uw_push_client_send_framed(struct uw_push_client *client, struct uw_chunk *chunk);

/* uw_push_client_send for other threads. */
void uw_push_client_post(struct uw_push_client *client, struct uw_chunk *chunk);

/* Sets the idle time-out after which the server checks the client; 0 disables it. The second function is for other
 * threads. */
void uw_push_client_set_idle_timeout(struct uw_push_client *client, int64_t idle_timeout_ns);
void uw_push_client_post_idle_timeout(struct uw_push_client *client, int64_t idle_timeout_ns);

/* Ends the client after all earlier writes have been sent, with a reason of `length` bytes. Later calls do nothing. A
 * client that is not open yet gets no reason. The second function is for other threads. */
void uw_push_client_end(struct uw_push_client *client, unsigned code, const char *reason, size_t length);
void uw_push_client_post_end(struct uw_push_client *client, unsigned code, const char *reason, size_t length);

#endif
