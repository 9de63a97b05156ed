#include "base/object_counts.h"

#include "base/module.h"

static rb_uw_add_stats *const *sources;

void rb_uw_stats_put(VALUE hash, const char *name, uint64_t number)
{
    rb_hash_aset(hash, ID2SYM(rb_intern(name)), ULL2NUM(number));
}

/*
 * Counts the objects that the schedulers, loops and selectors of this process hold now, in all threads. Every count but
 * `loops` is 0 when no work is left and the schedulers are closed; a count that grows without bound is a leak. Cheap:
 * it visits each fiber and watch once. Without the extension it walks the whole heap.
 *
 * - `:schedulers`: Upwell::Scheduler that has been used and is not closed
 * - `:loops`: Upwell::Loop and Upwell::Selector that have waited and are not closed
 * - `:fibers`: started by a scheduler and not ended
 * - `:waiting`: fibers that wait
 * - `:watches`: IOs, descriptors and times that loops and selectors watch
 * - `:descriptors`: descriptors that a fiber or a watch waits for
 * - `:operations`: pending in the kernel; in mode `fibers`, the server's connections are included
 * - `:timers`: active timers
 *
 * @return [Hash{Symbol => Integer}]
 */
static VALUE stats(VALUE self)
{
    struct rb_uw_stats stats = {0};
    VALUE hash = rb_hash_new();

    (void)self;
    for (size_t i = 0; sources[i]; i++)
        sources[i](&stats);
    rb_uw_stats_put(hash, "schedulers", stats.schedulers);
    rb_uw_stats_put(hash, "loops", stats.loops);
    rb_uw_stats_put(hash, "fibers", stats.fibers);
    rb_uw_stats_put(hash, "waiting", stats.waiting);
    rb_uw_stats_put(hash, "watches", stats.watches);
    rb_uw_stats_put(hash, "descriptors", stats.descriptors);
    rb_uw_stats_put(hash, "operations", stats.operations);
    rb_uw_stats_put(hash, "timers", stats.timers);
    return hash;
}

void rb_uw_init_stats(rb_uw_add_stats *const *all)
{
    sources = all;
    rb_define_singleton_method(rb_mUpwell, "stats", stats, 0);
}
