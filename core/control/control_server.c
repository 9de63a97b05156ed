#include "control/control_server.h"

#include <errno.h>
#include <poll.h>

#include "base/thread.h"
#include "composition/composition.h"
#include "control/metrics_answer.h"

/* This backend keeps nothing in the kernel. A forked worker would inherit io_uring's ring with its pending accepts. */
#define BACKEND "poll"

#define FAILED_PAUSE_MS 1000 /* between two looks whether a server with a failed loop stops */

static const struct uw_server_settings settings = {
    .http = {.head_bytes_max = 16384, .target_bytes_max = 2048, .headers_max = UW_HTTP_HEADERS_INLINE},
    .body_bytes_max = 1024,
    .body_memory_bytes_max = 1024,
    .connections_max = 256,
    .head_timeout_ns = 2 * UW_NS_PER_SECOND, /* a local client that sends half a request must not shut others out */
    .body_timeout_ns = 2 * UW_NS_PER_SECOND,
    .keep_alive_timeout_ns = 120 * UW_NS_PER_SECOND, /* longer than usual intervals of scrapes */
    .write_timeout_ns = 10 * UW_NS_PER_SECOND,
};

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    const struct uw_control_server *control = context;

    if (event == UW_EVENT_REQUEST)
        uw_answer_metrics(request, control->metrics);
}

static int open_server(struct uw_control_server *control)
{
    struct uw_handler handler = {.context = control, .notify = notify};
    int error = uw_server_open(&control->server, &uw_composition, &settings, BACKEND, handler);

    if (error == -ENOENT) /* not compiled in */
        error = uw_server_open(&control->server, &uw_composition, &settings, NULL, handler);
    if (error)
        return error;
    error = uw_server_listen(&control->server, control->fd);
    if (error)
        uw_server_close(&control->server);
    return error;
}

static void tell_opened(struct uw_control_server *control, int error)
{
    pthread_mutex_lock(&control->lock);
    control->has_opened = true;
    control->error = error;
    pthread_cond_signal(&control->opened);
    pthread_mutex_unlock(&control->lock);
}

static int await_opened(struct uw_control_server *control)
{
    pthread_mutex_lock(&control->lock);
    while (!control->has_opened)
        pthread_cond_wait(&control->opened, &control->lock);
    pthread_mutex_unlock(&control->lock);
    return control->error;
}

static void *run(void *argument)
{
    struct uw_control_server *control = argument;
    int error = open_server(control);

    tell_opened(control, error);
    if (error)
        return NULL;
    while (!error && !atomic_load(&control->stopping))
        error = uw_server_turn(&control->server, UW_FOREVER);
    while (!atomic_load(&control->stopping)) /* the loop has failed */
        (void)poll(NULL, 0, FAILED_PAUSE_MS);
    pthread_mutex_lock(&control->lock); /* uw_control_server_stop still wakes the loop */
    uw_server_close(&control->server);
    pthread_mutex_unlock(&control->lock);
    return NULL;
}

int uw_control_server_start(struct uw_control_server *control, const struct uw_metrics *metrics, int fd)
{
    int error;

    control->metrics = metrics;
    control->fd = fd;
    control->has_opened = false;
    atomic_store(&control->stopping, false);
    pthread_mutex_init(&control->lock, NULL);
    pthread_cond_init(&control->opened, NULL);
    error = uw_thread_start(&control->thread, run, control);
    if (error)
        return error;
    error = await_opened(control);
    if (error)
        (void)pthread_join(control->thread, NULL);
    return error;
}

void uw_control_server_stop(struct uw_control_server *control)
{
    pthread_mutex_lock(&control->lock);
    atomic_store(&control->stopping, true);
    uw_loop_wake(&control->server.server_context.loop);
    pthread_mutex_unlock(&control->lock);
    (void)pthread_join(control->thread, NULL);
}
