/* What the files of this wing share: one request and its response, from env to end. They know who serves it by host.h
 * alone. */
#ifndef RB_UPWELL_RACK_H
#define RB_UPWELL_RACK_H

#include <ruby.h>
#include <ruby/encoding.h>
#include <ruby/thread.h>

#include "base/module.h"
#include "base/unwinding.h"
#include "http/response_head.h"
#include "push/upgrades.h"
#include "rack/host.h"
#include "server/server.h"

/* One request and its response in the making; lives on the stack of whoever serves it. */
struct rb_uw_exchange {
    struct rb_uw_host *host;
    struct uw_request *request;
    struct uw_chunk *chunk; /* being filled */
    struct uw_list link;    /* in host->serving */
    VALUE thread, fiber;    /* on which it is served */
    int64_t began_ns;
    VALUE env, input, hijack, early_hints;
    const struct uw_upgrade *upgrade; /* in which the client may stay, or NULL */
    VALUE status, headers, body;
    VALUE closer;             /* the body whose `close` is due */
    VALUE hijacker;           /* of a partial hijack, or nil */
    VALUE protocol;           /* to which the response has the connection switch (rack.protocol), or nil */
    VALUE error;              /* what the application raised, or nil */
    VALUE lock;               /* Mutex of whoever writes or hijacks, on whichever thread; nil until somebody does */
    bool interruptible;       /* by what other threads raise for it */
    bool struck;              /* they did, while it ran */
    struct rb_uw_wait *drain; /* fibers: of the fiber while it waits for the client */
    struct uw_body held;      /* inline: what the response is ahead of its client */
    int64_t waited_ns;        /* inline: for the client */
    bool behind;              /* inline: the client is; what comes now is held */
    bool broken;              /* inline: it could not be */
    struct uw_http_response response;
    bool answered; /* the application has answered, or failed: it is too late for a hijack */
    bool head_sent;
    bool hijacked;
    bool done; /* the request has been finished */
    bool lost; /* its client was gone by then */
};

/* exchange.c */
void rb_uw_init_exchange(void);

/* Answers a request from beginning to end. Returns the state, as rb_protect does, of what was raised beyond that: what
 * must end the thread, such as SystemExit, or what struck while nothing could be answered with it. */
int rb_uw_serve(struct rb_uw_host *host, struct uw_request *request);

/* An exchange that has not begun, of a request or of an event of a client that stays. */
struct rb_uw_exchange rb_uw_exchange_of_request(struct rb_uw_host *host, struct uw_request *request);

/* What must follow upon it, whatever was raised: nothing strikes the thread for it any more, then `end`. In a child
 * that was forked meanwhile nothing must. */
VALUE rb_uw_exchange_complete(VALUE exchange, VALUE (*end)(VALUE));

/* Has `function` serve it, which gives the request back whatever happens. Returns what rb_uw_serve does. */
int rb_uw_exchange_run(struct rb_uw_exchange *exchange, VALUE (*function)(VALUE));

/* It is being served no more. */
void rb_uw_exchange_end(struct rb_uw_exchange *exchange);

/* Logs exchange->error. */
void rb_uw_exchange_report(struct rb_uw_exchange *exchange);

/* What is being served: an Array of [env, thread, seconds so far, whether it has the thread of the loop now]. */
VALUE rb_uw_served_now(const struct rb_uw_host *host);

/* The exchange of a request that is being served. */
static inline struct rb_uw_exchange *rb_uw_exchange_of(struct uw_request *request)
{
    return request->user;
}

/* exchange_lock.c */

/* Whoever may wait while it uses the exchange holds this: a Mutex. The exchange does not end before. */
VALUE rb_uw_exchange_lock(struct rb_uw_exchange *exchange);

/* Waits until nobody uses the exchange, whose lock may be nil. What is raised into the thread meanwhile is raised when
 * that is so. */
VALUE rb_uw_await_users(VALUE lock);

/* rack_env.c */
void rb_uw_init_env(void);
VALUE rb_uw_env_template(bool rack_2, VALUE input);
VALUE rb_uw_env(struct rb_uw_exchange *exchange);

/* The key of a header's field. */
VALUE rb_uw_env_key(const struct uw_request *request, const struct uw_http_header *header);

/* The application has done with the request. */
void rb_uw_env_end(const struct rb_uw_exchange *exchange);

/* held_env.c */
void rb_uw_init_held_env(void);

/* What stands for rack.errors in the env of a client that stays. */
VALUE rb_uw_held_errors(void);

/* The client stays, and its env. */
void rb_uw_hold_env(const struct rb_uw_exchange *exchange);

/* rack_response.c */
void rb_uw_init_response(void);

/* The status that the application has answered with, whatever it is. */
int rb_uw_response_status(const struct rb_uw_exchange *exchange);

/* Makes exchange->chunk the head of the response. Raises ArgumentError for what must not be sent. */
void rb_uw_response_head(struct rb_uw_exchange *exchange);

/* Makes it the head of the response by which `client` stays. Raises the same, and SystemCallError where it cannot. */
void rb_uw_response_upgrade(struct rb_uw_exchange *exchange, struct uw_client *client);

/* The head of a response 103: a chunk of its own, which belongs to the caller. Raises the same. */
struct uw_chunk *rb_uw_response_early_hints(const struct uw_response_writer *writer, bool newline_values,
                                            VALUE headers);

/* Raises what `error`, of response_head.h, stands for, unless it is 0. */
void rb_uw_check_response(const struct uw_http_response *response, int error);

/* body_file.c */
void rb_uw_init_body_file(void);

/* The length of the file that the body names with `to_path`; -1 when there is no such file. */
int64_t rb_uw_body_file_bytes(struct rb_uw_exchange *exchange);

/* Its descriptor, or -1 when the body is to be sent by `each` after all: not a file, or not of the response's length.
 */
int rb_uw_body_file_open(struct rb_uw_exchange *exchange);

/* sending.c */

/* Appends one framed piece of the body to exchange->chunk. */
void rb_uw_write(struct rb_uw_exchange *exchange, VALUE piece);

/* Sends what has been appended, before this returns when `at_once`; waits while the client does not keep up. */
void rb_uw_flush(struct rb_uw_exchange *exchange, bool at_once);

/* Ends the response: whole, or broken with UW_CHUNK_ABORT among the flags. */
void rb_uw_finish(struct rb_uw_exchange *exchange, unsigned flags);

/* Ends it whole. Raises IOError when pieces are missing from it. */
void rb_uw_finish_whole(struct rb_uw_exchange *exchange);

/* rack_body.c */
void rb_uw_init_body(void);

/* Turns what answers to to_ary into an Array, so that its length is known; and what is to be called with the connection
 * after a response 101 into a hijacker. */
void rb_uw_body_prepare(struct rb_uw_exchange *exchange);

/* Whether it streams by itself: is called with a stream. */
bool rb_uw_body_is_callable(const struct rb_uw_exchange *exchange);

/* Sends the whole body after the head, and finishes. */
void rb_uw_body_send(struct rb_uw_exchange *exchange);

/* Calls the body's `close`, if it has one. */
void rb_uw_body_close(struct rb_uw_exchange *exchange);

/* upgrade.c: rack.upgrade */
void rb_uw_init_upgrade(void);

/* Whether the application has the client stay, by what it has answered. */
bool rb_uw_is_upgraded(const struct rb_uw_exchange *exchange);

/* Answers so: the body is not sent. */
void rb_uw_upgrade(struct rb_uw_exchange *exchange);

/* rack_protocol.c: rack.protocol */
void rb_uw_init_protocol(void);

/* What the client offers to switch to: an Array of Strings, given the whole field. */
VALUE rb_uw_protocols(VALUE field);

/* Has the response switch, where the application names one of them and has the connection for itself. */
void rb_uw_choose_protocol(struct rb_uw_exchange *exchange);

/* awaiting_room.c: does what one of push/from_afar.h's does, as soon as there is room for something of `bytes` bytes.
 * Returns what that does, or -ESHUTDOWN when the server is closed; -EAGAIN while the loop stands still. Raises
 * NoMemoryError. */
typedef int rb_uw_errand(const void *argument);
int rb_uw_ask(struct rb_uw_host *host, rb_uw_errand *errand, const void *argument, size_t bytes);

/* client_events.c: serves an event of a client that stays, as rb_uw_serve does a request. */
void rb_uw_init_client_events(void);
int rb_uw_serve_event(struct rb_uw_host *host, struct uw_request *request);

/* input_class.c: rack.input */
void rb_uw_init_input(void);
VALUE rb_uw_input_new(struct uw_request *request);
VALUE rb_uw_input_empty(void);

/* Whether the application has left nothing on it: no variables, no methods. */
bool rb_uw_input_is_unmarked(VALUE input);
void rb_uw_input_end(VALUE input);

/* callable.c: what an env has to be called */

/* Knows its request as long as that is being served. */
VALUE rb_uw_callable_new(VALUE class, struct uw_request *request);

/* Of `self`, or NULL when it is over. */
struct uw_request *rb_uw_callable_request(VALUE self);

/* Raises IOError when the request is over; `what` is for the message. */
struct rb_uw_exchange *rb_uw_callable_exchange(VALUE self, const char *what);

/* From here on the application can ask nothing of the request any more, on whichever thread. */
void rb_uw_end_callables(struct rb_uw_exchange *exchange);

/* hijack_class.c: rack.hijack */
void rb_uw_init_hijack(void);
VALUE rb_uw_hijack_new(struct uw_request *request);

/* early_hints_class.c: rack.early_hints */
void rb_uw_init_early_hints(void);
VALUE rb_uw_early_hints_new(struct uw_request *request);

/* stream_class.c: what a body writes to */
void rb_uw_init_stream(void);
VALUE rb_uw_stream_new(struct rb_uw_exchange *exchange);
void rb_uw_stream_write(VALUE stream, VALUE piece);

/* Closes it, when whoever writes has done so. */
void rb_uw_stream_end(VALUE stream);

/* holding.c: waits for the client so briefly that it stops nobody, and sets `behind` if it has not caught up by then.
 */
void rb_uw_hold_back(struct rb_uw_exchange *exchange);

/* Before a piece is sent: whoever paused for long has patience anew. */
void rb_uw_note_pause(struct rb_uw_exchange *exchange);

/* Whether the client is behind, or something is held: then what comes next is held, too, until it has caught up. */
bool rb_uw_is_ahead(const struct rb_uw_exchange *exchange);

/* Whether a client that was behind has caught up, with what was held handed over; otherwise the chunk is held, too, or
 * filled further. It is looked after now and then, and when `asked`. Raises what rb_uw_await_drain does; and once for
 * all IOError or SystemCallError where no more can be held, with which the response is broken. */
bool rb_uw_catch_up(struct rb_uw_exchange *exchange, bool asked);
void rb_uw_hand_over_held(struct rb_uw_exchange *exchange);

/* Raises IOError when the response is broken: pieces are missing from it. */
void rb_uw_refuse_broken(const struct rb_uw_exchange *exchange);

/* detach.c */

void rb_uw_init_detach(void);

/* A connection on its way from the server to the application. */
struct rb_uw_detachment {
    struct uw_detached detached;
    struct rb_uw_host *host;
    struct uw_request *request;
    struct rb_uw_wait *wait; /* fibers: of the one that waits */
    bool done;
};

/* Takes the connection out of the server, with the head of the response sent if there is one: a Ruby socket,
 * or nil when the connection is not to be had, for which there is an IOError. */
VALUE rb_uw_detach(struct rb_uw_exchange *exchange, struct uw_chunk *head);
NORETURN(void rb_uw_refuse_hijack(void));

/* Ends the connection of such a socket, which nobody uses any more; in a copy it remains the parent's. */
void rb_uw_detached_close(const struct rb_uw_host *host, VALUE io);

/* striking.c */

/* Upwell::ErrorLog, which is loaded by the first call: not when there may be no descriptor left for it. */
VALUE rb_uw_error_log(void);

/* Calls `function`. Returns the state of what is to end the thread or the process, or 0: what else it raises is logged.
 */
int rb_uw_protect(VALUE (*function)(VALUE), VALUE argument);

/* The same, of what rb_protect returned. */
int rb_uw_end_or_log(int state);

/* Logs an exception that belongs to no request. */
void rb_uw_log_stray(VALUE error);

/* A time-out is for whatever the thread does: the end of a request, which nothing else may interrupt, or the server. It
 * may be of any class: what tells it is that Ruby's Timeout raises it, on the thread that runs here. */
bool rb_uw_strikes_anyway(VALUE error);

/* What other threads raise for the request interrupts it no more. May be called again; raises what is to end the thread
 * or the process. */
void rb_uw_end_strikes(struct rb_uw_exchange *exchange);

#endif
