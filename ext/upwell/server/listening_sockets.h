/* The listening sockets of a reactor: an Array of Arrays of a socket, an Upwell::TLSContext (nil: without TLS), and
 * whether the socket is inherited. Both kinds of reactors have one. */
#ifndef RB_UPWELL_LISTENING_SOCKETS_H
#define RB_UPWELL_LISTENING_SOCKETS_H

#include <ruby.h>

#include "server/server.h"

/* A socket as the core needs it. */
struct rb_uw_listening {
    int fd;
    struct uw_tls_context *tls; /* with a reference; NULL for plain */
    bool inherited;             /* see uw_server_listen_inherited */
};

/* Raises ArgumentError for too many sockets, TypeError for a context of another class. */
void rb_uw_listening_add(VALUE sockets, VALUE socket, VALUE context, VALUE inherited);

/* Fills at most UW_LISTENERS_MAX. Returns how many. */
long rb_uw_listening_retain(VALUE sockets, struct rb_uw_listening *listening);
void rb_uw_listening_release(struct rb_uw_listening *listening, long count);

/* Opens listeners on the loop's thread, without the interpreter's lock. Returns 0 or -errno. */
int rb_uw_listening_open(struct uw_server *server, const struct rb_uw_listening *listening, long count);

/* Later clients of `socket` are served with `context`. `server` is NULL when it is not open. Raises ArgumentError for
 * an unknown socket, and NoMemoryError. */
void rb_uw_listening_renew(VALUE sockets, VALUE socket, VALUE context, struct uw_server *server);

/* Applies contexts reloaded between the copy in `listening` and the opening of the server, for the first `count`
 * sockets. */
void rb_uw_listening_catch_up(VALUE sockets, const struct rb_uw_listening *listening, long count,
                              struct uw_server *server);

#endif
