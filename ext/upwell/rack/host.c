#include <errno.h>

#include "rack/client_class.h"
#include "rack/rack.h"

/* A response waits for others of its turn as long as it took to hand over the last ones: to many clients what is sent
 * to each then leaves in one piece, and half of the time is the application's. */
#define PATIENCE_MIN_NS UW_NS_PER_MS
#define PATIENCE_MAX_NS (20 * UW_NS_PER_MS)
#define PUSH_NS (20 * UW_NS_PER_MS) /* for a client that takes whatever is sent: others want the loop, too */

static void init_locks(struct rb_uw_host *host)
{
    if (pthread_mutex_init(&host->lock, NULL) || pthread_cond_init(&host->changed, NULL))
        rb_memerror();
}

void rb_uw_host_init(struct rb_uw_host *host, struct uw_server *server, VALUE self)
{
    init_locks(host);
    host->server = server;
    host->patience_ns = PATIENCE_MIN_NS;
    host->forks = rb_uw_forks_now();
    host->self = self;
    host->app = host->root = host->template = host->input = host->held_errors = Qnil;
    host->http_host = host->remote_addr = host->remote_ports = Qnil;
    uw_list_init(&host->serving);
    uw_list_init(&host->clients);
    RB_OBJ_WRITE(self, &host->http_host, rb_str_new(NULL, 0));
    RB_OBJ_WRITE(self, &host->remote_addr, rb_str_new(NULL, 0));
    RB_OBJ_WRITE(self, &host->remote_ports, rb_ary_new());
}

/* Nobody else may refer to a fiber that waits for nothing of ours, and its stack holds an exchange. A copy serves none:
 * other threads' stacks are gone there. */
static void mark_serving(const struct rb_uw_host *host)
{
    if (rb_uw_host_is_copy(host))
        return;
    for (const struct uw_list *link = host->serving.next; link != &host->serving; link = link->next)
        rb_gc_mark(uw_owner(link, struct rb_uw_exchange, link)->fiber);
}

void rb_uw_host_mark(const struct rb_uw_host *host)
{
    rb_gc_mark_movable(host->app);
    rb_gc_mark_movable(host->root);
    rb_gc_mark_movable(host->template);
    rb_gc_mark_movable(host->input);
    rb_gc_mark_movable(host->held_errors);
    rb_gc_mark_movable(host->http_host);
    rb_gc_mark_movable(host->remote_addr);
    rb_gc_mark_movable(host->remote_ports);
    mark_serving(host);
    rb_uw_clients_mark(host);
    rb_gc_mark(host->self); /* itself: it must not move, since exchanges and the core point into it */
}

void rb_uw_host_compact(struct rb_uw_host *host)
{
    host->app = rb_gc_location(host->app);
    host->root = rb_gc_location(host->root);
    host->template = rb_gc_location(host->template);
    host->input = rb_gc_location(host->input);
    host->held_errors = rb_gc_location(host->held_errors);
    host->http_host = rb_gc_location(host->http_host);
    host->remote_addr = rb_gc_location(host->remote_addr);
    host->remote_ports = rb_gc_location(host->remote_ports);
}

/* The C library waits until nobody waits for what is to be destroyed: in the copy for ever. */
void rb_uw_host_free(struct rb_uw_host *host)
{
    if (rb_uw_host_is_copy(host))
        return;
    pthread_cond_destroy(&host->changed);
    pthread_mutex_destroy(&host->lock);
}

void rb_uw_host_tell_changed(struct rb_uw_host *host)
{
    pthread_mutex_lock(&host->lock);
    pthread_cond_broadcast(&host->changed);
    pthread_mutex_unlock(&host->lock);
}

static bool is_late(const struct rb_uw_host *host, int64_t now_ns)
{
    return now_ns - host->flushed_ns >= host->patience_ns;
}

bool rb_uw_host_is_late(const struct rb_uw_host *host)
{
    return is_late(host, uw_clock_ns());
}

static void note_flush(struct rb_uw_host *host, int64_t began_ns)
{
    int64_t now_ns = uw_clock_ns(), took_ns = now_ns - began_ns;

    host->flushed_ns = now_ns;
    host->patience_ns = took_ns < PATIENCE_MIN_NS   ? PATIENCE_MIN_NS
                        : took_ns > PATIENCE_MAX_NS ? PATIENCE_MAX_NS
                                                    : took_ns;
}

void rb_uw_host_flush_if_late(struct rb_uw_host *host)
{
    int64_t now_ns = uw_clock_ns();

    host->busy_since_ns = now_ns;
    if (!is_late(host, now_ns))
        return;
    uw_server_flush(host->server);
    note_flush(host, now_ns);
}

/* What is sent by a connection after something else has to wait for the end of that, which a turn finds out: it also
 * finds out who has gone. */
static void turn_and_flush(struct rb_uw_host *host)
{
    int64_t began_ns = uw_clock_ns();

    (void)uw_server_turn(host->server, 0);
    uw_loop_flush(&host->server->service.loop);
    note_flush(host, began_ns);
    host->busy_since_ns = host->flushed_ns;
}

static bool is_thread_of_loop(const struct rb_uw_host *host)
{
    return !host->thread_has_ended && pthread_equal(pthread_self(), host->thread);
}

/* Where the loop has a thread of its own, that does so in its own time. */
bool rb_uw_host_turns_here(const struct rb_uw_host *host)
{
    return is_thread_of_loop(host) && !rb_uw_host_is_copy(host);
}

bool rb_uw_host_give_up(struct rb_uw_host *host)
{
    return rb_uw_host_turns_here(host) && uw_service_give_up(&host->server->service);
}

void rb_uw_host_flush(struct rb_uw_host *host)
{
    if (rb_uw_host_turns_here(host))
        turn_and_flush(host);
}

/* What exchanges ask of the reactor, in any mode. The application may do so from threads of its own, too: these wait
 * like workers. */

static const struct rb_uw_host_calls *calls_here(const struct rb_uw_host *host)
{
    return is_thread_of_loop(host) ? host->here : host->elsewhere;
}

/* What was to be sent is the parent's to send. */
void rb_uw_refuse_copy(const struct rb_uw_host *host)
{
    if (rb_uw_host_is_copy(host))
        rb_raise(rb_eUpwellError, "this process was forked within a request: only its parent can answer the client");
}

void rb_uw_hand_over(struct rb_uw_exchange *exchange, struct uw_chunk *chunk)
{
    struct rb_uw_host *host = exchange->host;
    struct uw_request *request = exchange->request;

    if (rb_uw_host_is_copy(host))
        uw_chunk_free(chunk);
    rb_uw_refuse_copy(host);
    if (chunk->flags & UW_CHUNK_FINISH) {
        exchange->lost = atomic_load(&request->lost);
        exchange->done = true;
        exchange->request = NULL;
    }
    calls_here(host)->send(request, chunk);
}

/* Each turn finds out what has been sent, and sends what comes after that. */
void rb_uw_push(struct rb_uw_exchange *exchange)
{
    int64_t end_ns;
    size_t left, outgoing;

    if (!rb_uw_host_turns_here(exchange->host))
        return;
    end_ns = uw_clock_ns() + PUSH_NS;
    outgoing = uw_request_outgoing(exchange->request);
    do {
        left = outgoing;
        turn_and_flush(exchange->host);
        outgoing = uw_request_outgoing(exchange->request);
    } while (outgoing && outgoing < left && exchange->host->flushed_ns < end_ns);
}

static void raise_if_lost(const struct rb_uw_exchange *exchange)
{
    if (atomic_load(&exchange->request->lost))
        rb_syserr_fail(EPIPE, "the client is gone");
}

void rb_uw_await_drain(struct rb_uw_exchange *exchange)
{
    rb_uw_refuse_copy(exchange->host);
    raise_if_lost(exchange);
    if (!uw_request_await_drain(exchange->request))
        return;
    calls_here(exchange->host)->await_drain(exchange);
    raise_if_lost(exchange);
}

void rb_uw_detach_connection(struct rb_uw_detachment *detachment)
{
    rb_uw_refuse_copy(detachment->host);
    calls_here(detachment->host)->detach(detachment);
}
