/* The control address: GET /metrics answers the metrics of all processes. A thread of its own serves it, without Ruby.
 * So it answers whatever the application does. */
#ifndef UW_CONTROL_CONTROL_SERVER_H
#define UW_CONTROL_CONTROL_SERVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "metrics/metrics.h"
#include "server/server.h"

struct uw_control_server {
    struct uw_server server;
    const struct uw_metrics *metrics;
    int fd; /* the listening socket, the caller's */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool has_opened; /* under the lock: `error` is set */
    int error;
    atomic_bool stopping;
};

/* Serves clients of the listening socket `fd` on a new thread. The struct must not move. Returns 0 or -errno. The
 * thread does not exist in forked processes. */
int uw_control_server_start(struct uw_control_server *control, const struct uw_metrics *metrics, int fd);

/* Ends the thread and its connections. Waits for the thread. */
void uw_control_server_stop(struct uw_control_server *control);

#endif
