/* Upwell::Client: another handler replaces the current one. Both are notified between two events. */
#ifndef RB_UPWELL_CLIENT_HANDLER_H
#define RB_UPWELL_CLIENT_HANDLER_H

#include "rack/client_class.h"

void rb_uw_init_client_handler(void);

/* Another handler has replaced `former`. on_close of the old one and on_open of the new one run before the next event,
 * and after the current one. */
void rb_uw_push_client_note_change(struct rb_uw_push_client *client, VALUE former, VALUE handler);

/* Calls the callbacks of the changed handlers; for the thread that serves an event. Changes that the callbacks make are
 * reported, too. */
void rb_uw_push_client_tell_changes(const struct rb_uw_push_client *client);

#endif
