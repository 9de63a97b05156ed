/* The outcome of a request, for the access log: status, bytes of content and times. Without a log nothing is noted. */
#ifndef RB_UPWELL_OUTCOME_H
#define RB_UPWELL_OUTCOME_H

#include "rack/rack_response.h"

/* Notes the time before the application is called. */
void rb_uw_outcome_begin(const struct rb_uw_delivery *delivery);

/* Notes the response, before its last chunk or the connection is handed over. */
void rb_uw_outcome_note(const struct rb_uw_rack_response *response, bool aborted);

/* Notes a full hijack, which has no response, before the connection is handed over. */
void rb_uw_outcome_note_hijack(const struct rb_uw_delivery *delivery);

#endif
