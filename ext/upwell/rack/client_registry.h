/* The long-lived clients: their events come even if the application keeps no reference. */
#ifndef RB_UPWELL_CLIENT_REGISTRY_H
#define RB_UPWELL_CLIENT_REGISTRY_H

#include "rack/client_class.h"

/* The client's events begin; rb_uw_push_client_end ends them. */
void rb_uw_push_client_begin(struct rb_uw_push_client *client);
void rb_uw_push_client_end(struct rb_uw_push_client *client);

/* Marks the context's long-lived clients, and each client's references. */
void rb_uw_push_clients_mark(const struct rb_uw_rack_context *rack_context);
void rb_uw_push_client_mark_next(const struct rb_uw_push_client *client);

#endif
