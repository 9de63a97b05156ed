#include "rack/rack_context.h"

#include "base/module.h"

/* A response waits for others for as long as the last flush took. So the data for each of many clients is sent in one
 * piece, and half of the time is the application's. */
#define PATIENCE_MIN_NS UW_NS_PER_MS
#define PATIENCE_MAX_NS (20 * UW_NS_PER_MS)

static void init_locks(struct rb_uw_rack_context *rack_context)
{
    if (pthread_mutex_init(&rack_context->lock, NULL) || pthread_cond_init(&rack_context->changed, NULL))
        rb_memerror();
}

void rb_uw_rack_context_init(struct rb_uw_rack_context *rack_context, struct uw_server *server, VALUE self)
{
    init_locks(rack_context);
    rack_context->server = server;
    rack_context->patience_ns = PATIENCE_MIN_NS;
    rack_context->forks = rb_uw_forks_now();
    rack_context->self = self;
    rack_context->app = rack_context->root = rack_context->template = rack_context->input = rack_context->held_errors =
        Qnil;
    rack_context->http_host = rack_context->remote_addr = rack_context->remote_ports = Qnil;
    uw_list_init(&rack_context->serving);
    uw_list_init(&rack_context->clients);
    RB_OBJ_WRITE(self, &rack_context->http_host, rb_str_new(NULL, 0));
    RB_OBJ_WRITE(self, &rack_context->remote_addr, rb_str_new(NULL, 0));
    RB_OBJ_WRITE(self, &rack_context->remote_ports, rb_ary_new());
}

void rb_uw_rack_context_mark(const struct rb_uw_rack_context *rack_context)
{
    rb_gc_mark_movable(rack_context->app);
    rb_gc_mark_movable(rack_context->root);
    rb_gc_mark_movable(rack_context->template);
    rb_gc_mark_movable(rack_context->input);
    rb_gc_mark_movable(rack_context->held_errors);
    rb_gc_mark_movable(rack_context->http_host);
    rb_gc_mark_movable(rack_context->remote_addr);
    rb_gc_mark_movable(rack_context->remote_ports);
    rb_gc_mark(rack_context->self); /* itself: it must not move, since exchanges and the core point into it */
}

void rb_uw_rack_context_compact(struct rb_uw_rack_context *rack_context)
{
    rack_context->app = rb_gc_location(rack_context->app);
    rack_context->root = rb_gc_location(rack_context->root);
    rack_context->template = rb_gc_location(rack_context->template);
    rack_context->input = rb_gc_location(rack_context->input);
    rack_context->held_errors = rb_gc_location(rack_context->held_errors);
    rack_context->http_host = rb_gc_location(rack_context->http_host);
    rack_context->remote_addr = rb_gc_location(rack_context->remote_addr);
    rack_context->remote_ports = rb_gc_location(rack_context->remote_ports);
}

/* The C library's destroy waits for waiting threads, which never leave in the copy. */
void rb_uw_rack_context_free(struct rb_uw_rack_context *rack_context)
{
    if (rb_uw_rack_context_is_copy(rack_context))
        return;
    pthread_cond_destroy(&rack_context->changed);
    pthread_mutex_destroy(&rack_context->lock);
}

void rb_uw_rack_context_tell_changed(struct rb_uw_rack_context *rack_context)
{
    pthread_mutex_lock(&rack_context->lock);
    pthread_cond_broadcast(&rack_context->changed);
    pthread_mutex_unlock(&rack_context->lock);
}

static bool is_late(const struct rb_uw_rack_context *rack_context, int64_t now_ns)
{
    return now_ns - rack_context->flushed_ns >= rack_context->patience_ns;
}

bool rb_uw_rack_context_is_late(const struct rb_uw_rack_context *rack_context)
{
    return is_late(rack_context, uw_clock_ns());
}

static void note_flush(struct rb_uw_rack_context *rack_context, int64_t began_ns)
{
    int64_t now_ns = uw_clock_ns(), took_ns = now_ns - began_ns;

    rack_context->flushed_ns = now_ns;
    rack_context->patience_ns = took_ns < PATIENCE_MIN_NS   ? PATIENCE_MIN_NS
                                : took_ns > PATIENCE_MAX_NS ? PATIENCE_MAX_NS
                                                            : took_ns;
}

void rb_uw_rack_context_flush_if_late(struct rb_uw_rack_context *rack_context)
{
    int64_t now_ns = uw_clock_ns();

    rack_context->busy_since_ns = now_ns;
    if (!is_late(rack_context, now_ns))
        return;
    uw_server_flush(rack_context->server);
    note_flush(rack_context, now_ns);
}

/* A connection's output may wait for an earlier send. An iteration finds out that it has ended, and which clients have
 * disconnected. */
static void turn_and_flush(struct rb_uw_rack_context *rack_context)
{
    int64_t began_ns = uw_clock_ns();

    (void)uw_server_turn(rack_context->server, 0);
    uw_loop_flush(&rack_context->server->server_context.loop);
    note_flush(rack_context, began_ns);
    rack_context->busy_since_ns = rack_context->flushed_ns;
}

static bool is_thread_of_loop(const struct rb_uw_rack_context *rack_context)
{
    return !rack_context->thread_has_ended && pthread_equal(pthread_self(), rack_context->thread);
}

/* A loop with its own thread flushes by itself. */
bool rb_uw_rack_context_turns_here(const struct rb_uw_rack_context *rack_context)
{
    return is_thread_of_loop(rack_context) && !rb_uw_rack_context_is_copy(rack_context);
}

bool rb_uw_rack_context_give_up(struct rb_uw_rack_context *rack_context)
{
    return rb_uw_rack_context_turns_here(rack_context) &&
           uw_server_context_free_descriptors(&rack_context->server->server_context);
}

void rb_uw_rack_context_flush(struct rb_uw_rack_context *rack_context)
{
    if (rb_uw_rack_context_turns_here(rack_context))
        turn_and_flush(rack_context);
}

const struct rb_uw_rack_context_calls *rb_uw_rack_context_calls(const struct rb_uw_rack_context *rack_context)
{
    return is_thread_of_loop(rack_context) ? rack_context->here : rack_context->elsewhere;
}

/* Only the parent may send the response. */
void rb_uw_refuse_copy(const struct rb_uw_rack_context *rack_context)
{
    if (rb_uw_rack_context_is_copy(rack_context))
        rb_raise(rb_eUpwellError, "this process was forked during a request: only the parent process can send the "
                                  "response; end this process with exit!");
}
