/* The buffered output of a response in mode inline whose client is slow: in memory, then in a file, until the client
 * has caught up or the response is complete. The loop's thread does not wait for one client, because other clients need
 * it. */
#ifndef RB_UPWELL_SPILL_BUFFER_H
#define RB_UPWELL_SPILL_BUFFER_H

#include "rack/delivery.h"

/* Waits for the client only briefly, and sets `behind` if the client has not caught up by then. */
void rb_uw_spill_wait(struct rb_uw_delivery *delivery);

/* Call this before a piece is sent: after a long pause the next wait may last its full time again. */
void rb_uw_note_pause(struct rb_uw_delivery *delivery);

/* Whether the client is slow, or output is buffered: then further output is buffered, too, until the client has caught
 * up. */
bool rb_uw_is_spilling(const struct rb_uw_delivery *delivery);

/* Whether a slow client has caught up, and buffered output has been handed over. Otherwise the chunk is buffered, too,
 * or filled further. Checks now and then, and when `asked`. Raises what rb_uw_await_drain does. Raises IOError or
 * SystemCallError once when no more can be buffered; the response is then aborted. */
bool rb_uw_spill_drain(struct rb_uw_delivery *delivery, bool asked);
void rb_uw_spill_send(struct rb_uw_delivery *delivery);

/* Raises IOError when the response is broken: pieces are missing from it. */
void rb_uw_refuse_broken(const struct rb_uw_delivery *delivery);

#endif
