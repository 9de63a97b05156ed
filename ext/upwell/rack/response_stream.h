/* A response during sending: its pieces are framed and handed over as they come. */
#ifndef RB_UPWELL_RESPONSE_STREAM_H
#define RB_UPWELL_RESPONSE_STREAM_H

#include "rack/rack_response.h"

/* Appends one framed piece of the body to the delivery's chunk. */
void rb_uw_write(struct rb_uw_rack_response *response, VALUE piece);

/* Sends all appended data, before this returns when `at_once`. Waits while the client is slow. */
void rb_uw_flush(struct rb_uw_delivery *delivery, bool at_once);

/* Ends the response: whole, or broken with UW_CHUNK_ABORT among the flags. */
void rb_uw_finish(struct rb_uw_rack_response *response, unsigned flags);

/* Ends it whole. Raises IOError when pieces are missing from it. */
void rb_uw_finish_whole(struct rb_uw_rack_response *response);

#endif
