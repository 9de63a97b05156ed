#include "watches.h"

void rb_uw_watches_init(VALUE self, struct rb_uw_watches *watches, VALUE table, VALUE backend)
{
    if (watches->backend)
        rb_raise(rb_eUpwellError, "it is initialized already");
    watches->backend = rb_uw_loop_backend(backend);
    watches->thread = Qnil;
    RB_OBJ_WRITE(self, &watches->table, table);
    uw_slab_init(&watches->slab, sizeof(struct rb_uw_watch));
    uw_list_init(&watches->all);
    uw_list_init(&watches->opened);
    watches->changed_last = &watches->changed;
    watches->fired_last = &watches->fired;
}

/* Memory */

void rb_uw_watches_mark(struct rb_uw_watches *watches)
{
    if (!watches->backend)
        return;
    rb_gc_mark_movable(watches->table);
    rb_gc_mark_movable(watches->thread);
    for (struct uw_list *link = watches->all.next; link != &watches->all; link = link->next) {
        rb_gc_mark_movable(rb_uw_watch_of_link(link)->key);
        rb_gc_mark_movable(rb_uw_watch_of_link(link)->io);
    }
}

void rb_uw_watches_compact(struct rb_uw_watches *watches)
{
    if (!watches->backend)
        return;
    watches->table = rb_gc_location(watches->table);
    watches->thread = rb_gc_location(watches->thread);
    for (struct uw_list *link = watches->all.next; link != &watches->all; link = link->next) {
        rb_uw_watch_of_link(link)->key = rb_gc_location(rb_uw_watch_of_link(link)->key);
        rb_uw_watch_of_link(link)->io = rb_gc_location(rb_uw_watch_of_link(link)->io);
    }
}

void rb_uw_watches_free(struct rb_uw_watches *watches)
{
    if (!watches->backend)
        return;
    uw_list_remove(&watches->opened);
    if (watches->open)
        uw_loop_close(&watches->loop);
    uw_slab_free(&watches->slab);
}

size_t rb_uw_watches_memsize(const struct rb_uw_watches *watches)
{
    return watches->slab.blocks * watches->slab.block_bytes;
}

/* Frees a watch to which nothing refers any more. */
void rb_uw_watch_release(struct rb_uw_watches *watches, struct rb_uw_watch *watch)
{
    if (watch->keyed || watch->lost || watch->changed || watch->fired || watch->poll.pending)
        return;
    uw_list_remove(&watch->link);
    uw_slab_give(&watches->slab, watch);
}

/* The table */

/* An address is a multiple of 2, so this is a Fixnum: nothing to mark. */
static VALUE value_of(const struct rb_uw_watch *watch)
{
    return (VALUE)watch | RUBY_FIXNUM_FLAG;
}

static struct rb_uw_watch *watch_of(VALUE value)
{
    return NIL_P(value) ? NULL : (struct rb_uw_watch *)(value & ~(VALUE)RUBY_FIXNUM_FLAG);
}

/* What is deleted is another watch, or none, when a key was altered since it was given: an Array that grew, for
 * example.
 */
static void forget_key(struct rb_uw_watches *watches, struct rb_uw_watch *watch)
{
    struct rb_uw_watch *deleted;

    if (!watch->keyed)
        return;
    deleted = watch_of(rb_hash_delete(watches->table, watch->key));
    if (deleted)
        deleted->keyed = false;
    watch->lost = watch->keyed;
    watch->keyed = false;
}

/* One-shot watches are over with their event: while it awaits delivery, its key may be taken again. */
static void check_free(struct rb_uw_watches *watches, VALUE key)
{
    struct rb_uw_watch *watch = watch_of(rb_hash_lookup(watches->table, key));

    if (!watch || watch->ended)
        return;
    if (!watch->taken || watch->recurring)
        rb_raise(rb_eRuntimeError, "the key %+" PRIsVALUE " is watched already: unwatch it first, or give another",
                 key);
    forget_key(watches, watch);
}

/* Changes, which the thread that waits carries out */

static void wake_blocking(struct rb_uw_watches *watches)
{
    if (watches->blocking)
        uw_loop_wake(&watches->loop);
}

void rb_uw_watch_change(struct rb_uw_watches *watches, struct rb_uw_watch *watch)
{
    if (watch->changed)
        return;
    watch->changed = true;
    watch->next_changed = NULL;
    *watches->changed_last = watch;
    watches->changed_last = &watch->next_changed;
    /* One wake-up is enough: the first of those that wait for it. */
    if (watches->changed == watch)
        wake_blocking(watches);
}

void rb_uw_watch_end(struct rb_uw_watches *watches, struct rb_uw_watch *watch)
{
    watch->ended = true;
    forget_key(watches, watch);
}

/* Watching */

static struct rb_uw_watch *add(VALUE self, struct rb_uw_watches *watches, VALUE key, VALUE io)
{
    struct rb_uw_watch *watch;

    check_free(watches, key);
    watch = uw_slab_take(&watches->slab);
    if (!watch)
        rb_memerror();
    *watch = (struct rb_uw_watch){.key = key, .io = io};
    uw_list_append(&watches->all, &watch->link);
    RB_OBJ_WRITTEN(self, Qundef, key);
    RB_OBJ_WRITTEN(self, Qundef, io);
    return watch;
}

static void begin(struct rb_uw_watches *watches, struct rb_uw_watch *watch)
{
    /* Raising (the key's method `hash` may), this leaves a watch that was never begun; it is freed with the others. */
    rb_hash_aset(watches->table, watch->key, value_of(watch));
    watch->keyed = true;
    rb_uw_watch_change(watches, watch);
}

void rb_uw_watch_io(VALUE self, struct rb_uw_watches *watches, VALUE key, VALUE io, int fd, unsigned events,
                    bool recurring)
{
    struct rb_uw_watch *watch = add(self, watches, key, io);

    watch->recurring = recurring;
    watch->poll = (struct uw_operation){
        .verb = recurring ? UW_WATCH : UW_POLL, .fd = fd, .length = events, .complete = rb_uw_watch_polled};
    begin(watches, watch);
}

void rb_uw_watch_timer(VALUE self, struct rb_uw_watches *watches, VALUE key, int64_t deadline_ns, int64_t interval_ns)
{
    struct rb_uw_watch *watch = add(self, watches, key, Qnil);

    watch->timed = true;
    watch->recurring = interval_ns > 0;
    watch->interval_ns = interval_ns;
    watch->timer.deadline_ns = deadline_ns;
    begin(watches, watch);
}

bool rb_uw_unwatch(struct rb_uw_watches *watches, VALUE key)
{
    struct rb_uw_watch *watch = watch_of(rb_hash_lookup(watches->table, key));

    if (!watch || watch->ended)
        return false;
    rb_uw_watch_end(watches, watch);
    rb_uw_watch_change(watches, watch);
    return true;
}

void rb_uw_watches_interrupt(struct rb_uw_watches *watches)
{
    if (watches->blocking)
        rb_uw_watches_wake(watches);
}

void rb_uw_watches_wake(struct rb_uw_watches *watches)
{
    if (!watches->woken) {
        watches->woken = true;
        wake_blocking(watches);
    }
}
