#include "server/tls_reload.h"

#include <errno.h>
#include <stdlib.h>

#include "transport/tls_context.h"

/* A context on its way to the loop. */
struct renewal {
    struct uw_message message;
    struct uw_listener *listener;
    struct uw_tls_context *context; /* with a reference */
};

static void renew(struct uw_loop *loop, struct uw_message *message)
{
    struct renewal *renewal = uw_container_of(message, struct renewal, message);

    (void)loop;
    uw_tls_context_release(renewal->listener->tls);
    renewal->listener->tls = renewal->context;
    free(renewal);
}

int uw_server_reload_tls(struct uw_server *server, int index, struct uw_tls_context *context)
{
    struct renewal *renewal = malloc(sizeof *renewal);

    if (!renewal)
        return -ENOMEM;
    *renewal = (struct renewal){
        .message = {.receive = renew},
        .listener = &server->listeners[index],
        .context = uw_tls_context_retain(context),
    };
    uw_loop_post(&server->server_context.loop, &renewal->message);
    return 0;
}
