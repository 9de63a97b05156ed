#include "loop/watch_table.h"

#include "base/backend_choice.h"
#include "base/module.h"

static VALUE new_table(bool by_identity)
{
    VALUE table = rb_hash_new();

    return by_identity ? rb_funcall(table, rb_intern("compare_by_identity"), 0) : table;
}

void rb_uw_watches_init(VALUE self, struct rb_uw_watches *watches, bool by_identity, VALUE backend)
{
    const char *name = rb_uw_loop_backend(backend);
    VALUE table = new_table(by_identity);

    if (watches->backend)
        rb_raise(rb_eUpwellError, "this loop or selector is already initialized; create a new one");
    watches->thread = Qnil;
    watches->by_identity = by_identity;
    RB_OBJ_WRITE(self, &watches->table, table);
    uw_slab_init(&watches->slab, sizeof(struct rb_uw_watch));
    uw_list_init(&watches->all);
    uw_list_init(&watches->opened);
    watches->changed_last = &watches->changed;
    watches->fired_last = &watches->fired;
    watches->backend = name; /* after this the collector marks the rest */
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
    uw_slab_destroy(&watches->slab);
}

size_t rb_uw_watches_memsize(const struct rb_uw_watches *watches)
{
    return watches->slab.blocks * watches->slab.block_bytes;
}

/* Frees a watch to which nothing refers any more. */
void rb_uw_watch_release(struct rb_uw_watches *watches, struct rb_uw_watch *watch)
{
    if (watch->keyed || watch->changed || watch->fired || watch->poll.pending)
        return;
    uw_list_remove(&watch->link);
    uw_slab_free(&watches->slab, watch);
}

/* The table maps a key's hash to the first watch with that hash. A key's own methods may run other code that uses the
 * table. So hash_of and find call them before the table changes, and never on stored keys. */

static VALUE hash_of(const struct rb_uw_watches *watches, VALUE key)
{
    VALUE hash = watches->by_identity ? key : rb_funcall(key, rb_intern("hash"), 0);

    return watches->by_identity || FIXNUM_P(hash) ? hash : rb_hash(hash);
}

/* The key under which the table stores it. */
static VALUE place_of(const struct rb_uw_watches *watches, const struct rb_uw_watch *watch)
{
    return watches->by_identity ? watch->key : watch->hash;
}

/* An address is a multiple of 2, so this is a Fixnum: nothing to mark. */
static VALUE value_of(const struct rb_uw_watch *watch)
{
    return (VALUE)watch | RUBY_FIXNUM_FLAG;
}

static struct rb_uw_watch *watch_of(VALUE value)
{
    return NIL_P(value) ? NULL : (struct rb_uw_watch *)(value & ~(VALUE)RUBY_FIXNUM_FLAG);
}

static struct rb_uw_watch *first_at(const struct rb_uw_watches *watches, VALUE place)
{
    return watch_of(rb_hash_lookup(watches->table, place));
}

static void set_first(struct rb_uw_watches *watches, VALUE place, const struct rb_uw_watch *watch)
{
    if (watch)
        rb_hash_aset(watches->table, place, value_of(watch));
    else
        rb_hash_delete(watches->table, place);
    watches->altered++;
}

static void remember_key(struct rb_uw_watches *watches, struct rb_uw_watch *watch)
{
    VALUE place = place_of(watches, watch);

    watch->next_alike = first_at(watches, place);
    set_first(watches, place, watch);
    watch->keyed = true;
}

static void forget_key(struct rb_uw_watches *watches, struct rb_uw_watch *watch)
{
    VALUE place = place_of(watches, watch);
    struct rb_uw_watch *first, **link = &first;

    if (!watch->keyed)
        return;
    first = first_at(watches, place);
    while (*link != watch)
        link = &(*link)->next_alike;
    *link = watch->next_alike;
    set_first(watches, place, first);
    watch->keyed = false;
}

/* Returns the watch of `key`, or NULL. Starts over when the table was changed meanwhile. */
static struct rb_uw_watch *find(const struct rb_uw_watches *watches, VALUE key, VALUE hash)
{
    struct rb_uw_watch *watch = first_at(watches, hash);
    uint64_t altered = watches->altered;

    while (watch && watch->key != key) {
        bool same = rb_eql(key, watch->key);

        if (watches->altered != altered) {
            altered = watches->altered;
            watch = first_at(watches, hash);
        } else if (same) {
            break;
        } else {
            watch = watch->next_alike;
        }
    }
    return watch;
}

/* A one-shot watch ends with its event. Its key is free again while the event awaits delivery. */
static void free_key(struct rb_uw_watches *watches, VALUE key, VALUE hash)
{
    struct rb_uw_watch *watch = find(watches, key, hash);

    if (!watch)
        return;
    if (!watch->taken || watch->recurring)
        rb_raise(rb_eRuntimeError, "the key %+" PRIsVALUE " is watched already: unwatch it first, or use another key",
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
    /* The first change wakes the waiting thread; later ones need not. */
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
    VALUE hash = hash_of(watches, key);
    struct rb_uw_watch *watch;

    free_key(watches, key, hash);
    watch = uw_slab_alloc(&watches->slab);
    if (!watch)
        rb_memerror();
    *watch = (struct rb_uw_watch){.key = key, .hash = hash, .io = io};
    uw_list_append(&watches->all, &watch->link);
    RB_OBJ_WRITTEN(self, Qundef, key);
    RB_OBJ_WRITTEN(self, Qundef, io);
    return watch;
}

static void begin(struct rb_uw_watches *watches, struct rb_uw_watch *watch)
{
    /* If this raises for want of memory, the watch was never started; it is freed with the others. */
    remember_key(watches, watch);
    rb_uw_watch_change(watches, watch);
}

void rb_uw_watch_io(VALUE self, struct rb_uw_watches *watches, VALUE key, VALUE io, int fd, unsigned events,
                    bool recurring)
{
    struct rb_uw_watch *watch = add(self, watches, key, io);

    watch->recurring = recurring;
    watch->poll = (struct uw_operation){.opcode = recurring ? UW_WATCH : UW_POLL, .fd = fd, .length = events};
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
    struct rb_uw_watch *watch = find(watches, key, hash_of(watches, key));

    if (!watch)
        return false;
    rb_uw_watch_end(watches, watch);
    rb_uw_watch_change(watches, watch);
    return true;
}

void rb_uw_watches_interrupt(struct rb_uw_watches *watches)
{
    if (!watches->waiting || watches->interrupted)
        return;
    watches->interrupted = true;
    wake_blocking(watches);
}

void rb_uw_watches_wake(struct rb_uw_watches *watches)
{
    if (!watches->woken) {
        watches->woken = true;
        wake_blocking(watches);
    }
}
