/* What a fork leaves behind: of the parent's threads its child has only the one that forked, and of its loops, locks
 * and connections no more than copies. */
#ifndef RB_UPWELL_FORKS_H
#define RB_UPWELL_FORKS_H

#include <stdatomic.h>
#include <stdbool.h>

/* How often this process is the child of a fork: what was made when it was another number is its parent's. */
extern atomic_uint rb_uw_forks;

static inline unsigned rb_uw_forks_now(void)
{
    return atomic_load_explicit(&rb_uw_forks, memory_order_relaxed);
}

/* Whether what was made when it was `forks` is a copy of the parent's. */
static inline bool rb_uw_forked_since(unsigned forks)
{
    return forks != rb_uw_forks_now();
}

void rb_uw_init_forks(void);

#endif
