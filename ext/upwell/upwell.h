/* What the C files of the binding share. The binding turns core objects into Ruby objects; it holds no protocol of its
 * own. */
#ifndef RB_UPWELL_H
#define RB_UPWELL_H

#include <ruby.h>
#include <ruby/encoding.h>
#include <ruby/thread.h>

#include "base/unwinding.h"
#include "http/response_head.h"
#include "server/server.h"

struct rb_uw_reactor; /* reactor.h */

/* One request and its response in the making; lives on the stack of whoever serves it. */
struct rb_uw_exchange {
    struct rb_uw_reactor *reactor;
    struct uw_request *request;
    struct uw_chunk *chunk; /* being filled */
    struct uw_list link;    /* in reactor->serving */
    VALUE thread, fiber;    /* on which it is served */
    int64_t began_ns;
    VALUE env, input, hijack, early_hints;
    VALUE status, headers, body;
    VALUE closer;             /* the body whose `close` is due */
    VALUE hijacker;           /* of a partial hijack, or nil */
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

extern VALUE rb_mUpwell, rb_eUpwellError, rb_eUpwellBackendError;

/* backend_choice.c: the name of the backend that will be used, the one asked for (a String) or with nil the first that
 * works; found out by using it. Raises Upwell::BackendError. */
VALUE rb_uw_choose_backend(VALUE wanted);

/* Why a backend whose trial gave `error` does not work. */
VALUE rb_uw_backend_reason(int error);

/* The same for a loop that an application makes: `wanted` is a String, a Symbol, or nil for UPWELL_BACKEND. */
const char *rb_uw_loop_backend(VALUE wanted);

/* gvl.c: a turn of `loop`, without the interpreter's lock while it waits; so what it completes must not touch Ruby.
 * Returns what uw_loop_turn does. Raises nothing, but an interrupt of the thread runs its trap handlers or exception
 * before this returns. */
int rb_uw_turn(struct uw_loop *loop, int64_t wait_ns);

/* To be called before a wait: an exception that is to come when the thread blocks (Thread.handle_interrupt). May also
 * carry out what handles a signal, and let other threads run. */
void rb_uw_raise_what_was_put_off(void);

/* The same as rb_uw_turn, but not begun when the thread is interrupted already; sets `interrupted` when it was. */
int rb_uw_turn_until_interrupted(struct uw_loop *loop, int64_t wait_ns, bool *interrupted);

/* server_settings.c */
VALUE rb_uw_setting(VALUE settings, const char *name);

/* Reads limits and time-outs. Raises KeyError for one that is missing, ArgumentError for one that is out of range. */
void rb_uw_read_server_settings(struct uw_server_settings *core, VALUE settings);

/* static_reactor_class.c */
void rb_uw_init_static_reactor(void);

/* reactor_class.c, detach.c */
void rb_uw_init_reactor(void);
void rb_uw_init_detach(void);

/* service.c */
void rb_uw_init_service(void);

/* exchange.c */
void rb_uw_init_exchange(void);

/* Answers a request from beginning to end. Returns the state, as rb_protect does, of what was raised beyond that: what
 * must end the thread, such as SystemExit, or what struck while nothing could be answered with it. */
int rb_uw_serve(struct rb_uw_reactor *reactor, struct uw_request *request);

/* Whoever may wait while it uses the exchange holds this: a Mutex. The exchange does not end before. */
VALUE rb_uw_exchange_lock(struct rb_uw_exchange *exchange);

/* Waits until nobody uses the exchange, whose lock may be nil. What is raised into the thread meanwhile is raised when
 * that is so. */
VALUE rb_uw_await_users(VALUE lock);

/* From here on the application can ask nothing of the request any more, on whichever thread. */
void rb_uw_end_callables(struct rb_uw_exchange *exchange);

/* What is being served: an Array of [env, thread, seconds so far, whether it has the thread of the loop now]. */
VALUE rb_uw_served_now(const struct rb_uw_reactor *reactor);

/* The exchange of a request that is being served. */
static inline struct rb_uw_exchange *rb_uw_exchange_of(struct uw_request *request)
{
    return request->user;
}

/* rack_env.c */
void rb_uw_init_env(void);
VALUE rb_uw_env_template(bool rack_2, VALUE input);
VALUE rb_uw_env(struct rb_uw_exchange *exchange);

/* The application has done with the request. */
void rb_uw_env_end(const struct rb_uw_exchange *exchange);

/* rack_response.c */
void rb_uw_init_response(void);

/* Makes exchange->chunk the head of the response. Raises ArgumentError for what must not be sent. */
void rb_uw_response_head(struct rb_uw_exchange *exchange);

/* The head of a response 103: a chunk of its own, which belongs to the caller. Raises the same. */
struct uw_chunk *rb_uw_response_early_hints(const struct uw_response_writer *writer, bool newline_values,
                                            VALUE headers);

/* Raises what `error`, of response_head.h, stands for, unless it is 0. */
void rb_uw_check_response(const struct uw_http_response *response, int error);

/* rack_body.c */
void rb_uw_init_body(void);

/* Turns what answers to to_ary into an Array, so that its length is known; and what is to be called with the connection
 * after a response 101 into a hijacker. */
void rb_uw_body_prepare(struct rb_uw_exchange *exchange);

/* The length of the file that the body names with `to_path`; -1 when there is no such file. */
int64_t rb_uw_body_file_bytes(struct rb_uw_exchange *exchange);

/* Sends the whole body after the head, and finishes. */
void rb_uw_body_send(struct rb_uw_exchange *exchange);

/* Appends one framed piece of the body to exchange->chunk. */
void rb_uw_write(struct rb_uw_exchange *exchange, VALUE piece);

/* Sends what has been appended, before this returns when `at_once`; waits while the client does not keep up. */
void rb_uw_flush(struct rb_uw_exchange *exchange, bool at_once);

/* Ends the response: whole, or broken with UW_CHUNK_ABORT among the flags. */
void rb_uw_finish(struct rb_uw_exchange *exchange, unsigned flags);

/* Calls the body's `close`, if it has one. */
void rb_uw_body_close(struct rb_uw_exchange *exchange);

/* loop_class.c, selector_class.c */
void rb_uw_init_loop(void);
void rb_uw_init_selector(void);

/* descriptor.c */
void rb_uw_init_descriptor(void);

/* input_class.c: rack.input */
void rb_uw_init_input(void);
VALUE rb_uw_input_new(struct uw_request *request);
VALUE rb_uw_input_empty(void);

/* Whether the application has left nothing on it: no variables, no methods. */
bool rb_uw_input_is_unmarked(VALUE input);
void rb_uw_input_end(VALUE input);

/* callables_class.c: rack.hijack, rack.early_hints */
void rb_uw_init_callables(void);
VALUE rb_uw_hijack_new(struct uw_request *request);
VALUE rb_uw_early_hints_new(struct uw_request *request);
void rb_uw_callable_end(VALUE callable);

/* stream_class.c: what a body writes to */
void rb_uw_init_stream(void);
VALUE rb_uw_stream_new(struct rb_uw_exchange *exchange);
void rb_uw_stream_write(VALUE stream, VALUE piece);

/* Closes it, when whoever writes has done so. */
void rb_uw_stream_end(VALUE stream);

#endif
