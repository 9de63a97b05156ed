#include "server/renewal.h"

#include <errno.h>
#include <stdlib.h>

#include "transport/tls_context.h"

/* A context on its way to the loop. */
struct renewal {
    struct uw_message message;
    struct uw_listener *listener;
    struct uw_tls_context *context; /* held */
};

static void renew(struct uw_loop *loop, struct uw_message *message)
{
    struct renewal *renewal = uw_owner(message, struct renewal, message);

    (void)loop;
    uw_tls_context_release(renewal->listener->tls);
    renewal->listener->tls = renewal->context;
    free(renewal);
}

int uw_server_renew(struct uw_server *server, int index, struct uw_tls_context *context)
{
    struct renewal *renewal = malloc(sizeof *renewal);

    if (!renewal)
        return -ENOMEM;
    *renewal = (struct renewal){
        .message = {.receive = renew},
        .listener = &server->listeners[index],
        .context = uw_tls_context_hold(context),
    };
    uw_loop_post(&server->service.loop, &renewal->message);
    return 0;
}
