/* Detaches a connection from the server, for an application that hijacks it. */
#ifndef RB_UPWELL_HIJACK_DETACH_H
#define RB_UPWELL_HIJACK_DETACH_H

#include "rack/delivery.h"

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
VALUE rb_uw_detach(struct rb_uw_delivery *delivery, struct uw_chunk *head);
NORETURN(void rb_uw_refuse_hijack(void));

/* Closes the connection of a detached socket that is no longer used; in a copy the connection belongs to the parent. */
void rb_uw_detached_close(const struct rb_uw_rack_context *rack_context, VALUE io);

#endif
