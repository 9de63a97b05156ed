/* The state after a fork: the child has only the thread that forked, and only copies of the parent's loops, locks and
 * connections. */
#ifndef RB_UPWELL_AFTER_FORK_H
#define RB_UPWELL_AFTER_FORK_H

#include <stdatomic.h>
#include <stdbool.h>

/* The number of forks between this process and the first one. An object made at another number belongs to the parent.
 */
extern atomic_uint rb_uw_forks;

static inline unsigned rb_uw_forks_now(void)
{
    return atomic_load_explicit(&rb_uw_forks, memory_order_relaxed);
}

/* Whether an object made at `forks` is a copy of the parent's. */
static inline bool rb_uw_forked_since(unsigned forks)
{
    return forks != rb_uw_forks_now();
}

void rb_uw_init_forks(void);

#endif
