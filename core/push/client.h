/* A client that stays after its request, and that the application talks to when it likes: by WebSocket or by
 * server-sent events. What comes of it are events, served one after another like requests; what goes to it may be
 * written by any thread.
 *
 * Counted: held by its connection, by whoever has made it, and by each message about it on its way to the loop. What is
 * not said to be for any thread belongs to the loop's.
 *
 * A server that is stopped or closed tells the handler nothing more, UW_CLIENT_CLOSED neither, and nothing may be
 * posted to it; one that drains tells all. Where memory is exhausted the end may go untold, too. */
#ifndef UW_PUSH_CLIENT_H
#define UW_PUSH_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "server/connection.h"

#define UW_INBOX_EVENTS_MAX 16         /* that wait for the handler; then the client is not read for a while */
#define UW_INBOX_BYTES_MAX (64 * 1024) /* likewise */
#define UW_INFLATED_BYTES_MAX (64 * 1024 * 1024) /* of what clients have sent compressed: then long messages wait */
#define UW_CLIENT_REASON_BYTES_MAX 123           /* of a close: RFC 6455, section 5.5.1 */

/* What an event's request carries beside its bytes; of its head nothing is set. Each is served by the handler like a
 * request, and finished with uw_client_event_end's chunk. */
enum uw_client_event {
    UW_CLIENT_OPENED = 1,
    UW_CLIENT_TEXT,
    UW_CLIENT_BINARY,
    UW_CLIENT_DRAINED,   /* all that was written has been sent */
    UW_CLIENT_SHUTDOWN,  /* the server ends: the client will be closed after this */
    UW_CLIENT_CLOSED,    /* the last one; also of one that has never been opened, as its connection was gone */
    UW_CLIENT_PUBLISHED, /* in a channel that it has subscribed to: see push/subscriptions.h */
    UW_CLIENT_REFUSED,   /* what another thread has subscribed it to: there are too many patterns, or no memory */
};

struct uw_client;

/* How it is talked to. */
struct uw_client_kind {
    const struct uw_protocol *protocol;

    /* A message as it is sent, in a chunk of `slab` where it fits, or NULL when memory is exhausted. `slab` may be
     * NULL: then any thread. */
    struct uw_chunk *(*frame)(struct uw_slab *slab, bool text, const char *bytes, size_t length);

    /* Before it is sent, on the loop's thread: may make it shorter, by what was agreed upon with the client: its
     * window alone says how. Or NULL. */
    void (*prepare)(struct uw_client *client, struct uw_chunk *chunk);

    /* Tells the client that it ends, with a close code of RFC 6455 and a reason, and ends it. */
    void (*end)(struct uw_client *client, unsigned code, const char *reason, size_t length);
};

/* Who keeps its subscriptions is told: of an event that has been served, and of its end. */
struct uw_client_subscriber {
    void (*served)(struct uw_client *client);
    void (*ended)(struct uw_client *client);
};

struct uw_client {
    const struct uw_client_kind *kind;
    struct uw_service *service;
    void *user; /* the handler's */
    struct uw_stream stream;
    atomic_uint holds;
    atomic_bool ending;               /* nothing is taken for it any more */
    atomic_bool wants_drained;        /* the handler wants to be told */
    atomic_int_least64_t silence_ns;  /* after which it is looked whether it is there */
    bool opened, end_told;            /* to the handler */
    unsigned early_end_code;          /* with which it is ended as soon as it is open; or 0 */
    bool drained_waits;               /* in the inbox */
    bool leaving;                     /* the server drains: its time is set */
    bool has_left;                    /* uw_client_leaves */
    bool asked;                       /* by its protocol, whether it is there: it has its time to answer */
    bool held_back;                   /* more has come than may wait: the protocol is to go on once less does */
    struct uw_list room_link;         /* in service->crowd */
    int window_bits;                  /* of what is compressed for it; 0: nothing is */
    struct uw_request *current;       /* the handler has it */
    struct uw_request *first, **last; /* events that wait */
    unsigned waiting;                 /* of them */
    size_t waiting_bytes;             /* their content */
    struct uw_list ears;              /* see ear.h: of one without a connection */
    const struct uw_client_subscriber *subscriber; /* NULL: it has never subscribed */
    struct uw_list subscriptions, published;       /* the subscriber's: what waits to be told */
    atomic_uint subscribed;                        /* how many subscriptions there are, or will be */
    unsigned published_waiting;
    size_t published_bytes;                 /* of those that wait */
    bool published_told, published_telling; /* one, that is not served yet; the subscriber is about to */
    struct uw_message end_message;          /* uw_client_end_from_afar */
    struct uw_message silence_message;      /* uw_client_set_silence_from_afar */
    atomic_bool end_posted, silence_posted;
    unsigned end_code;
    size_t end_reason_length;
    char *end_reason;
};

/* A client without a connection yet, held by the caller; NULL when memory is exhausted. Any thread. */
struct uw_client *uw_client_new(struct uw_service *service, const struct uw_client_kind *kind, void *user);

/* Any thread. The last to let go frees it. */
void uw_client_hold(struct uw_client *client);
void uw_client_release(struct uw_client *client);

/* The client has the connection from now on, whose last answer is on its way: what is written goes out behind that.
 * The connection may be closed already, and is where memory is exhausted. */
void uw_client_attach(struct uw_client *client, struct uw_connection *connection);

/* Its protocol has the connection from now on. `ahead` is what the client has sent meanwhile. */
void uw_client_begin(struct uw_client *client, const char *ahead, size_t length);

/* For protocols: a request that carries an event, to be told or freed; NULL when memory is exhausted. */
struct uw_request *uw_client_event_new(struct uw_client *client, enum uw_client_event event);
void uw_client_tell(struct uw_client *client, struct uw_request *request);

/* For the handler: the empty chunk that finishes an event, once: there is memory for it from the beginning. Any
 * thread. */
struct uw_chunk *uw_client_event_end(struct uw_request *request, bool failed);

/* Likewise, of an event without bytes. Returns whether there was memory for it. */
bool uw_client_tell_simply(struct uw_client *client, enum uw_client_event event);

/* Likewise of UW_CLIENT_REFUSED. Without memory for it the client is closed: it shall not wait for what never comes. */
void uw_client_tell_refused(struct uw_client *client);

/* For protocols: what they do in the place of request.h's. */
void uw_client_take_over(struct uw_request *request, struct uw_chunk *chunk);
void uw_client_abort(struct uw_request *request);
void uw_client_detach(struct uw_request *request, struct uw_detached *detached);

/* For protocols: the client will say no more. What it has said is served yet, and then it is ended; of what others say
 * its handler, which may be behind for ever, is told nothing any more. */
void uw_client_leaves(struct uw_client *client);

/* For protocols: less is outgoing; the connection is closed; it is about to be freed, which it may be once this is
 * true: the handler has been told, and has served all events; the loop has been closed. */
void uw_client_sent(struct uw_client *client);
void uw_client_closed(struct uw_client *client);
bool uw_client_is_done(struct uw_client *client);
void uw_client_discard(struct uw_client *client);

/* Whether the handler has served all events so far. */
bool uw_client_is_served(const struct uw_client *client);

/* The protocol's timed_out comes after so much silence as is allowed, from now on; not of one that leaves, ends, or has
 * been asked, which has its time for that. */
void uw_client_await_silence(struct uw_client *client, int64_t now_ns);

/* Whether events wait as many as may, so that no more are to be read. */
bool uw_client_is_full(const struct uw_client *client);

/* A thousand bytes may make a million: long messages that came compressed, of more than UW_INBOX_BYTES_MAX, take room
 * until they are served, and where there is none the client waits; its protocol goes on when there may be some. */
bool uw_client_has_room(const struct uw_client *client);
void uw_client_await_room(struct uw_client *client);
void uw_client_take_room(struct uw_client *client, struct uw_request *message);

/* Lets one in of those who wait, if there is room: whoever was let in has had its turn when it has taken room, when it
 * has gone on without, and when it ends. */
void uw_clients_let_in(struct uw_service *service);

static inline bool uw_client_awaits_room(const struct uw_client *client)
{
    return !uw_list_empty(&client->room_link);
}

/* Whether the application may still write. Any thread. */
static inline bool uw_client_is_open(const struct uw_client *client)
{
    return !atomic_load(&client->ending);
}

/* Whether so much is outgoing that the client takes no more messages: then it is to be ended with UW_CLOSE_POLICY. Any
 * thread. */
bool uw_client_is_behind(const struct uw_client *client);

/* Has a message sent, in a chunk made by kind->frame. Returns false when the client is ending, and the chunk is gone.
 */
bool uw_client_send(struct uw_client *client, struct uw_chunk *chunk);

/* Likewise of what is ready to be sent, and needs no preparation. */
bool uw_client_send_framed(struct uw_client *client, struct uw_chunk *chunk);

/* The same as uw_client_send for other threads than the loop's. */
void uw_client_post(struct uw_client *client, struct uw_chunk *chunk);

/* From now on it is looked after so much silence whether it is there; 0: never. The second is for other threads. */
void uw_client_set_silence(struct uw_client *client, int64_t silence_ns);
void uw_client_set_silence_from_afar(struct uw_client *client, int64_t silence_ns);

/* Ends it once what was written has been sent, with `length` bytes of a reason. The second is for other threads. Once
 * for each client: later calls do nothing. Of one that is not open yet the reason is not told. */
void uw_client_end(struct uw_client *client, unsigned code, const char *reason, size_t length);
void uw_client_end_from_afar(struct uw_client *client, unsigned code, const char *reason, size_t length);

#endif
