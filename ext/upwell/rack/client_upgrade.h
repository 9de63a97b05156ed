/* A long-lived client: the application has set env["rack.upgrade"] to a handler, and has not refused by its status. */
#ifndef RB_UPWELL_CLIENT_UPGRADE_H
#define RB_UPWELL_CLIENT_UPGRADE_H

#include "rack/rack_response.h"

void rb_uw_init_upgrade(void);

/* Whether the application's response upgrades the client. */
bool rb_uw_is_upgraded(const struct rb_uw_rack_response *response);

/* Answers so: the body is not sent. */
void rb_uw_upgrade(struct rb_uw_rack_response *response);

#endif
