/* Watching and waiting: the waiting thread opens the loop, applies changes and takes events. */
#ifndef RB_UPWELL_WATCH_WAIT_H
#define RB_UPWELL_WATCH_WAIT_H

#include "base/object_counts.h"
#include "loop/watch_table.h"

/* Call this before the classes are defined. */
void rb_uw_init_watches(void);
rb_uw_add_stats rb_uw_watches_add_stats;

/* Waits for events, a wake-up, a signal, or `deadline_ns` (0: no wait; UW_FOREVER). Returns whether it was woken.
 * Raises when waiting fails, and Upwell::Error during another wait. */
bool rb_uw_watches_wait(VALUE self, struct rb_uw_watches *watches, int64_t deadline_ns);

/* The next watch with an event, or NULL. Each is handed to rb_uw_watch_deliver some time. */
struct rb_uw_watch *rb_uw_watches_take(struct rb_uw_watches *watches);

/* Called before an event is delivered: a recurring watch continues, any other ends. Returns false when the watch was
 * removed, or its IO closed, meanwhile. Then, and when the watch has ended, `watch` is freed. */
bool rb_uw_watch_deliver(struct rb_uw_watches *watches, struct rb_uw_watch *watch);

/* Closes the loop. The next wait opens it again, and the watches continue. Raises Upwell::Error during a wait. */
void rb_uw_watches_close(struct rb_uw_watches *watches);

#endif
