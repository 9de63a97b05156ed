/* Serves an event of a long-lived client like a request. Whatever the handler does, the event is finished. A failure
 * closes the client. */
#ifndef RB_UPWELL_CLIENT_EVENTS_H
#define RB_UPWELL_CLIENT_EVENTS_H

#include "rack/rack_context.h"

void rb_uw_init_client_events(void);

/* Returns what rb_uw_serve does. */
int rb_uw_serve_event(struct rb_uw_rack_context *rack_context, struct uw_request *core);

#endif
