/* Upwell::LoopServer: the common part of Upwell::Reactor and Upwell::StaticReactor. */
#ifndef RB_UPWELL_LOOP_SERVER_CLASS_H
#define RB_UPWELL_LOOP_SERVER_CLASS_H

#include <ruby.h>

#include "log/refusal_log.h"
#include "metrics/metrics.h"
#include "server/access_logging.h"
#include "server/listening_sockets.h"
#include "server/shutdown_control.h"

/* The first member of both structs. */
struct rb_uw_loop_server {
    struct uw_server server;
    struct uw_server_settings settings;
    struct rb_uw_shutdown_control control;
    VALUE backend, sockets; /* see listening_sockets.h */
    enum uw_log_form log_form;
    struct uw_refusal_log refusals; /* the server's own log */
    struct rb_uw_access_logging access_logging;
    VALUE metrics_object;       /* Metrics or nil */
    struct uw_metrics *metrics; /* its own; NULL without */
    unsigned metrics_worker;    /* this process's number there */
    uint64_t gc_measured;       /* runs of the garbage collector that the metrics have */
    bool initialized;           /* set last, by the subclass */
    bool ran;                   /* `run` has been called */
    bool finished;              /* `run` has ended with nothing in flight */
    int status;                 /* of the last iteration */
};

/* The parent of their types. */
extern const rb_data_type_t rb_uw_loop_server_type;
extern VALUE rb_uw_cLoopServer;

void rb_uw_init_loop_server(void);

void rb_uw_loop_server_init(struct rb_uw_loop_server *server, VALUE self);
void rb_uw_loop_server_mark(const struct rb_uw_loop_server *server);
void rb_uw_loop_server_compact(struct rb_uw_loop_server *server);
size_t rb_uw_loop_server_bytes(const struct rb_uw_loop_server *server);
void rb_uw_loop_server_free(struct rb_uw_loop_server *server);

/* Reads the settings that both have. Raises what rb_uw_read_server_settings, rb_uw_choose_backend and
 * rb_uw_access_logging_read do, and Upwell::Error on a second call. */
void rb_uw_loop_server_read(struct rb_uw_loop_server *server, VALUE self, VALUE settings);

/* Raises Upwell::Error when it is not initialized, or has run already. */
void rb_uw_loop_server_begin(struct rb_uw_loop_server *server);

/* Opens the server on this thread, which must run its loop. Returns 0 or -errno; control.open says whether the caller
 * must close the server. */
int rb_uw_loop_server_open(struct rb_uw_loop_server *server, const char *backend, struct uw_handler handler);

/* Adds a request that has its response to the metrics, which exist. On the loop's thread. */
void rb_uw_loop_server_measure(struct rb_uw_loop_server *server, const struct uw_request *request,
                               const struct uw_access_record *record);

#endif
