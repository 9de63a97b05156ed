#include "server/tls_reload.h"

#include <errno.h>
#include <stdlib.h>

#include "server/certificate_metrics.h"
#include "transport/tls_context.h"

/* A new TLS context on its way to the loop */
struct reload {
    struct uw_message message;
    struct uw_listener *listener;
    struct uw_tls_context *context; /* referenced */
};

static void replace_context(struct uw_loop *loop, struct uw_message *message)
{
    struct reload *reload = uw_container_of(message, struct reload, message);

    (void)loop;
    uw_tls_context_release(reload->listener->tls);
    reload->listener->tls = reload->context;
    if (reload->listener->server->server_context.metrics)
        uw_server_measure_certificates(reload->listener->server);
    free(reload);
}

int uw_server_reload_tls(struct uw_server *server, int index, struct uw_tls_context *context)
{
    struct reload *reload = malloc(sizeof *reload);

    if (!reload)
        return -ENOMEM;
    *reload = (struct reload){
        .message = {.receive = replace_context},
        .listener = &server->listeners[index],
        .context = uw_tls_context_retain(context),
    };
    uw_loop_post(&server->server_context.loop, &reload->message);
    return 0;
}
