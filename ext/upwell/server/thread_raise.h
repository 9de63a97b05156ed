/* A request being served, and exceptions that another thread raises into the serving thread. */
#ifndef RB_UPWELL_THREAD_RAISE_H
#define RB_UPWELL_THREAD_RAISE_H

#include "server/reactor.h"

void rb_uw_init_thread_raise(void);

/* Serves `request`. Returns the state of an exception that ends the thread or the process, or 0. */
int rb_uw_serve_interruptible(struct rb_uw_reactor *reactor, struct uw_request *request);

/* Exceptions that other threads raise into this thread go only to its requests from now on; rb_uw_unguard_thread ends
 * this. */
void rb_uw_guard_thread(VALUE reactor);
void rb_uw_unguard_thread(void);

#endif
