/* The listening sockets of a reactor, and what those are served with that are served by TLS: an Array of pairs of a
 * socket and an Upwell::TLSContext or nil. Both kinds of reactors have one. */
#ifndef RB_UPWELL_LISTENING_H
#define RB_UPWELL_LISTENING_H

#include <ruby.h>

#include "server/server.h"

/* A pair as the core needs it. */
struct rb_uw_listening {
    int fd;
    struct uw_tls_context *tls; /* held; NULL for plain */
};

/* Raises ArgumentError when there are too many, TypeError for what is no context. */
void rb_uw_listening_add(VALUE sockets, VALUE socket, VALUE context);

/* Fills at most UW_LISTENERS_MAX. Returns how many. */
long rb_uw_listening_hold(VALUE sockets, struct rb_uw_listening *listening);
void rb_uw_listening_release(struct rb_uw_listening *listening, long count);

/* On the loop's thread, without the interpreter's lock. Returns 0 or -errno. */
int rb_uw_listening_open(struct uw_server *server, const struct rb_uw_listening *listening, long count);

/* Whoever connects to `socket` from now on is served with `context`. `server` is NULL when it is not open. Raises
 * ArgumentError for another socket, NoMemoryError. */
void rb_uw_listening_renew(VALUE sockets, VALUE socket, VALUE context, struct uw_server *server);

/* Once the server is open: what was renewed since `listening` was held, of as many as that has. */
void rb_uw_listening_catch_up(VALUE sockets, const struct rb_uw_listening *listening, long count,
                              struct uw_server *server);

#endif
