/* Upwell::LoopServer: what Upwell::Reactor and Upwell::StaticReactor have in common. */
#ifndef RB_UPWELL_LOOP_SERVER_H
#define RB_UPWELL_LOOP_SERVER_H

#include <ruby.h>

#include "server/control.h"
#include "server/listening.h"

/* Comes first in the struct of whoever has this. */
struct rb_uw_loop_server {
    struct uw_server server;
    struct uw_server_settings settings;
    struct rb_uw_control control;
    VALUE backend, sockets; /* see listening.h */
    bool initialized;       /* to the end, by whoever has this */
    bool ran;               /* `run` has been called */
    bool finished;          /* `run` has ended with nothing in flight */
    int status;             /* of the last turn */
};

/* The parent of their types. */
extern const rb_data_type_t rb_uw_loop_server_type;
extern VALUE rb_uw_cLoopServer;

void rb_uw_init_loop_server(void);

void rb_uw_loop_server_init(struct rb_uw_loop_server *server, VALUE self);
void rb_uw_loop_server_mark(const struct rb_uw_loop_server *server);
void rb_uw_loop_server_compact(struct rb_uw_loop_server *server);
size_t rb_uw_loop_server_bytes(const struct rb_uw_loop_server *server);

/* From the settings that both have. Raises what rb_uw_read_server_settings and rb_uw_choose_backend do, and
 * Upwell::Error when they have been read. */
void rb_uw_loop_server_read(struct rb_uw_loop_server *server, VALUE self, VALUE settings);

/* Raises Upwell::Error when it is not initialized, or has run already. */
void rb_uw_loop_server_begin(struct rb_uw_loop_server *server);

/* Opens the server on this thread, where its loop is turned from now on. Returns 0 or -errno; control.open tells
 * whether it is to be closed. */
int rb_uw_loop_server_open(struct rb_uw_loop_server *server, const char *backend, struct uw_handler handler);

#endif
