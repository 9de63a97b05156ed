/* Whether a worker computes, that is, has the interpreter's lock or waits for it, or does something without. Ruby tells
 * since 3.3; before, and where it cannot, nothing is known of any worker. */
#include "server/reactor.h"

#ifdef HAVE_RB_INTERNAL_THREAD_SPECIFIC_KEY_CREATE

static rb_internal_thread_specific_key_t key;
static enum { UNKNOWN, TOLD, NOT_TOLD } state;

/* On any thread, with or without the lock. */
static void tell(rb_event_flag_t event, const rb_internal_thread_event_data_t *data, void *unused)
{
    struct uw_worker *worker = rb_internal_thread_specific_get(data->thread, key);

    (void)unused;
    if (worker && event == RUBY_INTERNAL_THREAD_EVENT_READY)
        uw_worker_computes(worker);
    else if (worker)
        uw_worker_leaves(worker);
}

/* Never removed: that would wait for a lock that another thread may have had when this process was forked. */
static VALUE watch(VALUE unused)
{
    key = rb_internal_thread_specific_key_create();
    rb_internal_thread_add_event_hook(tell, RUBY_INTERNAL_THREAD_EVENT_READY | RUBY_INTERNAL_THREAD_EVENT_SUSPENDED,
                                      NULL);
    return unused;
}

/* There are few keys, and none where a Ractor came first. */
static bool told(void)
{
    int error;

    if (state == UNKNOWN) {
        rb_protect(watch, Qnil, &error);
        rb_set_errinfo(Qnil);
        state = error ? NOT_TOLD : TOLD;
    }
    return state == TOLD;
}

void rb_uw_watch_worker(struct uw_worker *worker)
{
    if (!told())
        return;
    if (worker)
        uw_worker_computes(worker);
    rb_internal_thread_specific_set(rb_thread_current(), key, worker);
}

#else

void rb_uw_watch_worker(struct uw_worker *worker)
{
    (void)worker;
}

#endif
