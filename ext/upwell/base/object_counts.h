/* Upwell.stats: counts of objects in this process. Each class of loops adds its own. */
#ifndef RB_UPWELL_OBJECT_COUNTS_H
#define RB_UPWELL_OBJECT_COUNTS_H

#include <ruby.h>
#include <stddef.h>

struct rb_uw_stats {
    size_t schedulers, loops;  /* open ones: they have been used, and were not closed */
    size_t fibers, waiting;    /* of schedulers */
    size_t watches;            /* of loops and selectors */
    size_t descriptors;        /* that are waited for, by a fiber or a watch */
    size_t operations, timers; /* of all these event loops */
};

/* Adds the counts of one kind of object. */
typedef void rb_uw_add_stats(struct rb_uw_stats *stats);

/* `sources` ends with NULL, and must remain valid. */
void rb_uw_init_stats(rb_uw_add_stats *const *sources);

/* hash[name.to_sym] = number */
void rb_uw_stats_put(VALUE hash, const char *name, uint64_t number);

#endif
