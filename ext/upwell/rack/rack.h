/* The shared header of this layer: one request and its response, from env to end. The layer knows the server through
 * rack_context.h alone. */
#ifndef RB_UPWELL_RACK_H
#define RB_UPWELL_RACK_H

#include <ruby.h>
#include <ruby/encoding.h>
#include <ruby/thread.h>

#include "base/module.h"
#include "base/process_exceptions.h"
#include "base/unwinding.h"
#include "composition/upgrade_kinds.h"
#include "http/response_head.h"
#include "rack/rack_context.h"
#include "server/server.h"

/* One request and its response. It lives on the stack of the serving fiber or thread. */
struct rb_uw_exchange {
    struct rb_uw_rack_context *rack_context;
    struct uw_request *request;
    struct uw_chunk *chunk; /* being filled */
    struct uw_list link;    /* in rack_context->serving */
    VALUE thread, fiber;    /* on which it is served */
    int64_t began_ns;
    VALUE env, input, hijack, early_hints;
    const struct uw_upgrade_kind *upgrade; /* by which the client may become long-lived, or NULL */
    VALUE status, headers, body;
    VALUE closer;                 /* the body that must be closed */
    VALUE hijacker;               /* of a partial hijack, or nil */
    VALUE protocol;               /* the protocol that the response switches to (rack.protocol), or nil */
    VALUE error;                  /* the application's exception, or nil */
    VALUE lock;                   /* a Mutex for writing or hijacking on any thread; nil until its first use */
    bool interruptible;           /* by exceptions from other threads for the request */
    bool interrupted;             /* they were raised while the request ran */
    struct rb_uw_wait *drain;     /* fibers: of the fiber while it waits for the client */
    struct uw_spooled_body spill; /* inline: output that waits for the client */
    int64_t waited_ns;            /* inline: for the client */
    bool behind;                  /* inline: the client is slow; further output is buffered */
    bool broken;                  /* inline: output could not be buffered */
    struct uw_http_response response;
    bool answered; /* the application has answered, or failed: it is too late for a hijack */
    bool head_sent;
    bool hijacked;
    bool done;        /* the request has been finished */
    bool client_gone; /* its client was gone by then */
    bool returned;    /* the application has returned or raised: its thread or fiber continues */
};

/* exchange.c */
void rb_uw_init_exchange(void);

/* Answers a request from start to end. Returns the state, as rb_protect does, of an exception that passes on. Such an
 * exception ends the thread (SystemExit), or arrived when it could no longer be answered. */
int rb_uw_serve(struct rb_uw_rack_context *rack_context, struct uw_request *request);

/* Returns an exchange, not begun yet, for a request or for a long-lived client's event. */
struct rb_uw_exchange rb_uw_exchange_of_request(struct rb_uw_rack_context *rack_context, struct uw_request *request);

/* Completes an exchange, whatever was raised: no exception of other threads arrives for it any more, then `end` runs.
 * In a child forked meanwhile neither happens. */
VALUE rb_uw_exchange_complete(VALUE exchange, VALUE (*end)(VALUE));

/* Serves the exchange with `function`, and always finishes the request. Returns what rb_uw_serve does. */
int rb_uw_exchange_run(struct rb_uw_exchange *exchange, VALUE (*function)(VALUE));

/* The exchange is no longer served. */
void rb_uw_exchange_end(struct rb_uw_exchange *exchange);

/* Logs exchange->error. */
void rb_uw_exchange_report(struct rb_uw_exchange *exchange);

/* Logs that the thread or the fiber ended during the exchange, as by Thread#kill. */
void rb_uw_exchange_report_end(struct rb_uw_exchange *exchange);

/* Returns the requests in progress: an Array of [env, thread, seconds so far, whether it occupies the loop's thread
 * now]. */
VALUE rb_uw_served_now(const struct rb_uw_rack_context *rack_context);

/* The exchange of a request that is being served. */
static inline struct rb_uw_exchange *rb_uw_exchange_of(struct uw_request *request)
{
    return request->user;
}

/* outcome.c: for the access log. The application is called; and the last chunk, or the connection, is handed over. */
void rb_uw_outcome_begin(struct rb_uw_exchange *exchange);
void rb_uw_outcome_note(struct rb_uw_exchange *exchange, bool aborted);

/* exchange_lock.c */

/* A Mutex that a thread locks while it uses the exchange and may wait. The exchange does not end before. */
VALUE rb_uw_exchange_lock(struct rb_uw_exchange *exchange);

/* Waits until no thread uses the exchange, whose lock may be nil. Exceptions raised into the thread meanwhile are
 * raised afterwards. */
VALUE rb_uw_await_users(VALUE lock);

/* rack_env.c */
void rb_uw_init_env(void);
VALUE rb_uw_env_template(bool rack_2, bool logged, VALUE input);
VALUE rb_uw_env(struct rb_uw_exchange *exchange);

/* The key of a header's field. */
VALUE rb_uw_env_key(const struct uw_request *request, const struct uw_http_header *header);

/* The application has finished with the request. */
void rb_uw_env_end(const struct rb_uw_exchange *exchange);

/* retained_env.c */
void rb_uw_init_retained_env(void);

/* The replacement of rack.errors in the env of a long-lived client. */
VALUE rb_uw_retained_errors(void);

/* The client becomes long-lived, and its env is retained. */
void rb_uw_retain_env(const struct rb_uw_exchange *exchange);

/* rack_response.c */
void rb_uw_init_response(void);

/* Returns the application's status, of whatever class. */
int rb_uw_response_status(const struct rb_uw_exchange *exchange);

/* Makes exchange->chunk the head of the response. Raises ArgumentError for an invalid head. */
void rb_uw_response_head(struct rb_uw_exchange *exchange);

/* Makes the chunk the head of the response by which `client` becomes long-lived. Raises the same, and SystemCallError
 * for a failure. */
void rb_uw_response_upgrade(struct rb_uw_exchange *exchange, struct uw_push_client *client);

/* Makes the head of a response 103 in a chunk for the caller. Raises ArgumentError for an invalid head. */
struct uw_chunk *rb_uw_response_early_hints(const struct uw_response_writer *writer, bool newline_values,
                                            VALUE headers);

/* Raises the exception for `error`, of response_head.h, unless it is 0. */
void rb_uw_check_response(const struct uw_http_response *response, int error);

/* to_path_file.c */
void rb_uw_init_body_file(void);

/* Returns the length of the body's `to_path` file; -1 when no such file exists. */
int64_t rb_uw_body_file_bytes(struct rb_uw_exchange *exchange);

/* Returns its descriptor, or -1 when `each` must send the body: not a file, or another length than the response's. */
int rb_uw_body_file_open(struct rb_uw_exchange *exchange);

/* response_stream.c */

/* Appends one framed piece of the body to exchange->chunk. */
void rb_uw_write(struct rb_uw_exchange *exchange, VALUE piece);

/* Sends all appended data, before this returns when `at_once`. Waits while the client is slow. */
void rb_uw_flush(struct rb_uw_exchange *exchange, bool at_once);

/* Ends the response: whole, or broken with UW_CHUNK_ABORT among the flags. */
void rb_uw_finish(struct rb_uw_exchange *exchange, unsigned flags);

/* Ends it whole. Raises IOError when pieces are missing from it. */
void rb_uw_finish_whole(struct rb_uw_exchange *exchange);

/* rack_body.c */
void rb_uw_init_body(void);

/* Turns a body with to_ary into an Array, so that its length is known. After a response 101, turns a callable body into
 * a hijacker. */
void rb_uw_body_prepare(struct rb_uw_exchange *exchange);

/* Whether it streams by itself: is called with a stream. */
bool rb_uw_body_is_callable(const struct rb_uw_exchange *exchange);

/* Sends the whole body after the head, and finishes. */
void rb_uw_body_send(struct rb_uw_exchange *exchange);

/* Calls the body's `close`, if it has one. */
void rb_uw_body_close(struct rb_uw_exchange *exchange);

/* client_upgrade.c: rack.upgrade */
void rb_uw_init_upgrade(void);

/* Whether the application's response upgrades the client. */
bool rb_uw_is_upgraded(const struct rb_uw_exchange *exchange);

/* Answers so: the body is not sent. */
void rb_uw_upgrade(struct rb_uw_exchange *exchange);

/* rack_protocol.c: rack.protocol */
void rb_uw_init_protocol(void);

/* The protocols that the client offers to switch to: an Array of Strings, made of the whole field. */
VALUE rb_uw_protocols(VALUE field);

/* Switches the response to a protocol, if the application names one and hijacks the connection. */
void rb_uw_choose_protocol(struct rb_uw_exchange *exchange);

/* cross_thread_backpressure.c: calls one of pub_sub/cross_thread.h's functions once there is quota for `bytes` bytes.
 * Returns its result; -ESHUTDOWN when the server is closed; or -EAGAIN while the loop is blocked. Raises NoMemoryError.
 */
typedef int rb_uw_post_function(const void *argument);
int rb_uw_post_or_wait(struct rb_uw_rack_context *rack_context, rb_uw_post_function *post, const void *argument,
                       size_t bytes);

/* client_events.c: serves an event of a long-lived client, as rb_uw_serve does a request. */
void rb_uw_init_client_events(void);
int rb_uw_serve_event(struct rb_uw_rack_context *rack_context, struct uw_request *request);

/* input_class.c: rack.input */
void rb_uw_init_input(void);
VALUE rb_uw_input_new(struct uw_request *request);
VALUE rb_uw_input_empty(void);

/* Whether the application has set neither variables nor methods on it. */
bool rb_uw_input_is_unmarked(VALUE input);
void rb_uw_input_end(VALUE input);

/* env_callables.c: the callable objects of an env */

/* Creates a callable that knows its request as long as the request is served. */
VALUE rb_uw_callable_new(VALUE class, struct uw_request *request);

/* The request of `self`, or NULL when it has ended. */
struct uw_request *rb_uw_callable_request(VALUE self);

/* Raises IOError when the request is over; `what` goes into the message. */
struct rb_uw_exchange *rb_uw_callable_exchange(VALUE self, const char *what);

/* Ends the callables: no thread can use the request through them any more. */
void rb_uw_end_callables(struct rb_uw_exchange *exchange);

/* hijack_class.c: rack.hijack */
void rb_uw_init_hijack(void);
VALUE rb_uw_hijack_new(struct uw_request *request);

/* early_hints_class.c: rack.early_hints */
void rb_uw_init_early_hints(void);
VALUE rb_uw_early_hints_new(struct uw_request *request);

/* stream_class.c: the object that a body writes to */
void rb_uw_init_stream(void);
VALUE rb_uw_stream_new(struct rb_uw_exchange *exchange);
void rb_uw_stream_write(VALUE stream, VALUE piece);

/* Closes the stream after current writes on other threads. */
void rb_uw_stream_end(VALUE stream);

/* spill_buffer.c: waits for the client only briefly, and sets `behind` if the client has not caught up by then. */
void rb_uw_spill_wait(struct rb_uw_exchange *exchange);

/* Call this before a piece is sent: after a long pause the next wait may last its full time again. */
void rb_uw_note_pause(struct rb_uw_exchange *exchange);

/* Whether the client is slow, or output is buffered: then further output is buffered, too, until the client has caught
 * up. */
bool rb_uw_is_spilling(const struct rb_uw_exchange *exchange);

/* Whether a slow client has caught up, and buffered output has been handed over. Otherwise the chunk is buffered, too,
 * or filled further. Checks now and then, and when `asked`. Raises what rb_uw_await_drain does. Raises IOError or
 * SystemCallError once when no more can be buffered; the response is then aborted. */
bool rb_uw_spill_drain(struct rb_uw_exchange *exchange, bool asked);
void rb_uw_spill_send(struct rb_uw_exchange *exchange);

/* Raises IOError when the response is broken: pieces are missing from it. */
void rb_uw_refuse_broken(const struct rb_uw_exchange *exchange);

/* hijack_detach.c */

void rb_uw_init_detach(void);

/* A connection on its way from the server to the application. */
struct rb_uw_detachment {
    struct uw_detached detached;
    struct rb_uw_rack_context *rack_context;
    struct uw_request *request;
    struct rb_uw_wait *wait; /* fibers: the waiting fiber's */
    bool done;
};

/* Detaches the connection from the server, after sending the response head if there is one. Returns a Ruby socket, or
 * nil when the connection cannot be detached; the caller raises IOError then. */
VALUE rb_uw_detach(struct rb_uw_exchange *exchange, struct uw_chunk *head);
NORETURN(void rb_uw_refuse_hijack(void));

/* Closes the connection of a detached socket that is no longer used; in a copy the connection belongs to the parent. */
void rb_uw_detached_close(const struct rb_uw_rack_context *rack_context, VALUE io);

/* async_exceptions.c */

/* Upwell::ExceptionLog. The first call loads it, so that it is not loaded when descriptors have run out. */
VALUE rb_uw_error_log(void);

/* Calls `function`, and logs an exception. Returns the state of one that ends the thread or the process, else 0. */
int rb_uw_protect(VALUE (*function)(VALUE), VALUE argument);

/* Treats a state that rb_protect returned as above: returns it if it is to end the thread or the process, else logs. */
int rb_uw_end_or_log(int state);

/* Logs an exception that belongs to no request. */
void rb_uw_log_stray(VALUE error);

/* Whether a time-out applies to the thread's current work: the end of a request, which cannot be interrupted otherwise,
 * or the server. It may be of any class; the sign is that Ruby's Timeout raises it on this thread. */
bool rb_uw_interrupts_anyway(VALUE error);

/* Ends interrupts of other threads for the request. A second call does nothing. Raises an exception that ends the
 * thread or the process. */
void rb_uw_end_interrupts(struct rb_uw_exchange *exchange);

#endif
