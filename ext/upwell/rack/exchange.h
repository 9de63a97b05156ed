/* A request or a client's event while it is being served: on which thread, with which request, response and
 * delivery. */
#ifndef RB_UPWELL_EXCHANGE_H
#define RB_UPWELL_EXCHANGE_H

#include "rack/rack_response.h"

/* It lives on the stack of the serving fiber or thread. */
struct rb_uw_exchange {
    struct rb_uw_rack_context *rack_context;
    struct uw_list link; /* in rack_context->serving */
    VALUE thread, fiber; /* on which it is served */
    int64_t began_ns;
    bool interruptible; /* by exceptions from other threads for the request */
    bool interrupted;   /* they were raised while the request ran */
    bool returned;      /* the application has returned or raised: its thread or fiber continues */
    VALUE error;        /* the application's exception, or nil */
    struct rb_uw_rack_request request;
    struct rb_uw_rack_response response; /* not of an event */
    struct rb_uw_delivery delivery;
};

void rb_uw_init_exchange(void);

/* Fills in an exchange, not begun yet, for a request or for a long-lived client's event. */
void rb_uw_exchange_init(struct rb_uw_exchange *exchange, struct rb_uw_rack_context *rack_context,
                         struct uw_request *core);

/* Serves the exchange with `function`, and always finishes the request. Returns what rb_uw_serve does. */
int rb_uw_exchange_run(struct rb_uw_exchange *exchange, VALUE (*function)(VALUE));

/* Completes an exchange, whatever was raised: no exception of other threads arrives for it any more, then `end` runs.
 * In a child forked meanwhile neither happens. */
VALUE rb_uw_exchange_complete(VALUE exchange, VALUE (*end)(VALUE));

/* The exchange is no longer served. */
void rb_uw_exchange_end(struct rb_uw_exchange *exchange);

/* Ends interrupts of other threads for the request. A second call does nothing. Raises an exception that ends the
 * thread or the process. */
void rb_uw_end_interrupts(struct rb_uw_exchange *exchange);

/* Calls `function`. Returns the error that it raises, or nil. An error passes on when it ends the process, or, in the
 * child of a fork, that child's thread. */
VALUE rb_uw_exchange_error_of(const struct rb_uw_exchange *exchange, VALUE (*function)(VALUE), VALUE argument);

/* Logs exchange->error. */
void rb_uw_exchange_report(struct rb_uw_exchange *exchange);

/* Logs that the thread or the fiber ended during the exchange, as by Thread#kill. */
void rb_uw_exchange_report_end(struct rb_uw_exchange *exchange);

/* Returns the requests in progress: an Array of [env, thread, seconds so far, whether it occupies the loop's thread
 * now]. */
VALUE rb_uw_served_now(const struct rb_uw_rack_context *rack_context);

/* Marks the fibers of the exchanges that are being served. */
void rb_uw_exchanges_mark(const struct rb_uw_rack_context *rack_context);

#endif
