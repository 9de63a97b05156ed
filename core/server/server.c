#include "server/server.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd_limit.h"
#include "base/malloc_trim.h"
#include "io/accept_errors.h"
#include "io/shutdown_and_close.h"
#include "server/certificate_metrics.h"
#include "server/connection.h"
#include "server/server_metrics.h"
#include "transport/tls_context.h"

#define UNIX_ADDRESS "localhost"

static void resume_accepting(struct uw_server *server);
static bool may_admit_client(const struct uw_server *server);

static struct uw_server *server_of(struct uw_loop *loop)
{
    return uw_container_of(loop, struct uw_server, server_context.loop);
}

/* Clients beyond the limit should wait in the backlog, where another process can accept them. So the kernel must not
 * accept many clients at once when the server is nearly full. */
static bool nearly_full(const struct uw_server *server)
{
    return server->capacity < server->server_context.connections.taken + UW_BACKLOG_MAX;
}

/* All processes of the server accept from the same socket. */
static bool is_shared(const struct uw_listener *listener)
{
    return listener->inherited || listener->port == 0;
}

static void stop_accepting(struct uw_server *server)
{
    for (int i = 0; i < server->listener_count; i++)
        uw_cancel(&server->server_context.loop, &server->listeners[i].accept);
}

/* The next server accepts the clients that wait there. */
static void leave_inherited_sockets(struct uw_server *server)
{
    for (int i = 0; i < server->listener_count; i++)
        if (server->listeners[i].inherited)
            uw_cancel(&server->server_context.loop, &server->listeners[i].accept);
}

/* A retry later accepts more clients once the current ones have closed, since no other process will. */
static void await_room(struct uw_server *server)
{
    if (atomic_load(&server->some_left) && server->server_context.connections.taken > 0)
        uw_timer_start(&server->server_context.loop, &server->accept_retry,
                       server->server_context.loop.now_ns + UW_ACCEPT_RETRY_NS);
}

/* The server also serves clients that the kernel has connected already. Accepting ends with the first iteration that
 * accepts no client, or after UW_DRAIN_TURNS_MAX where another process keeps accepting from the same socket. */
static void drain_backlog(struct uw_server *server)
{
    bool quiet = server->server_context.counts.accepted == server->accepted_before;

    server->accepted_before = server->server_context.counts.accepted;
    if (server->drain_turns > 0 && (quiet || server->drain_turns == UW_DRAIN_TURNS_MAX)) {
        stop_accepting(server);
        await_room(server);
        return;
    }
    server->drain_turns++;
    uw_timer_start(&server->server_context.loop, &server->accept_retry,
                   server->server_context.loop.now_ns); /* at once */
}

static void retry_to_drain_backlog(struct uw_server *server)
{
    if (atomic_load(&server->some_left)) {
        uw_server_close_listeners(server);
        server->drain_turns = 0; /* accepted clients arrive in the next iteration */
    }
    drain_backlog(server);
}

/* Requests need descriptors, too, for files and for the application. The server counts as full when `fd`, a client's,
 * is one of the last, unless enough cached ones are closed. It remains full until a connection ends, or until a retry
 * finds free descriptors. */
static void measure_room(struct uw_server *server, int fd)
{
    size_t missing = uw_fd_limit_reserve_used(fd), now = uw_server_connections(server);

    server->capacity = server->server_context.settings.connections_max;
    if (missing == 0 || uw_server_context_free_descriptors(&server->server_context) >= missing)
        return;
    server->capacity = now > 0 ? now : 1;
    if (!atomic_load(&server->server_context.draining))
        uw_timer_start(&server->server_context.loop, &server->accept_retry,
                       server->server_context.loop.now_ns + UW_ACCEPT_RETRY_NS);
}

static void retry_to_accept(struct uw_server *server)
{
    int next = server->capacity < server->server_context.settings.connections_max
                   ? uw_fd_next(server->listeners[0].accept.fd)
                   : 0;

    measure_room(server, next < 0 ? INT_MAX : next);
    resume_accepting(server);
}

/* Memory of many former connections remains in the C library until a trim, since blocks in use pin the heap below them.
 */
static void note_connections_peak(struct uw_server *server)
{
    struct uw_loop *loop = &server->server_context.loop;
    size_t now = uw_server_connections(server);

    if (now > server->connections_peak)
        server->connections_peak = now;
    if (server->connections_peak >= UW_TRIM_CONNECTIONS_MIN && now <= server->connections_peak / UW_TRIM_SHARE &&
        !server->trim.active)
        uw_timer_start(loop, &server->trim, loop->now_ns + UW_TRIM_DELAY_NS);
}

static void expire(struct uw_loop *loop, struct uw_timer *timer)
{
    struct uw_server *server = server_of(loop);

    if (timer == &server->trim) {
        server->connections_peak = uw_server_connections(server);
        uw_malloc_trim();
        return;
    }
    if (timer == &server->accept_retry && atomic_load(&server->server_context.draining))
        retry_to_drain_backlog(server);
    else if (timer == &server->accept_retry)
        retry_to_accept(server);
    else
        uw_connection_timeout(uw_container_of(timer, struct uw_connection, timer));
}

/* A connection has ended: a waiting client may connect. */
static void connection_ended(struct uw_server_context *server_context)
{
    struct uw_server *server = uw_container_of(server_context, struct uw_server, server_context);

    note_connections_peak(server);
    resume_accepting(server);
}

static void own_slabs(struct uw_server *server)
{
    uw_slab_own(&server->server_context.connections);
    uw_slab_own(&server->server_context.requests);
    uw_slab_own(&server->server_context.chunks);
    for (const struct uw_module *const *module = server->composition->modules; *module; module++)
        if ((*module)->own)
            (*module)->own(&server->server_context);
}

static void stop_modules(struct uw_server *server)
{
    for (const struct uw_module *const *module = server->composition->modules; *module; module++)
        if ((*module)->stop)
            (*module)->stop(&server->server_context);
}

static void mute_modules(struct uw_server *server)
{
    for (const struct uw_module *const *module = server->composition->modules; *module; module++)
        if ((*module)->mute)
            (*module)->mute(&server->server_context);
}

/* Closes the modules up to `end`; NULL: all. */
static void close_modules(struct uw_server *server, const struct uw_module *const *end)
{
    for (const struct uw_module *const *module = server->composition->modules; *module && module != end; module++)
        if ((*module)->close)
            (*module)->close(&server->server_context);
}

static int open_modules(struct uw_server *server)
{
    for (const struct uw_module *const *module = server->composition->modules; *module; module++) {
        int error = (*module)->open ? (*module)->open(&server->server_context) : 0;

        if (error) {
            close_modules(server, module);
            return error;
        }
    }
    return 0;
}

int uw_server_open(struct uw_server *server, const struct uw_composition *composition,
                   const struct uw_server_settings *settings, const char *backend, struct uw_handler handler)
{
    int error;

    if (settings->message_bytes_max > UW_MESSAGE_BYTES_MAX)
        return -EINVAL;
    uw_malloc_keep();
    memset(server, 0, sizeof *server);
    server->composition = composition;
    server->server_context.settings = *settings;
    server->capacity = settings->connections_max;
    server->server_context.handler = handler;
    error = uw_loop_open(&server->server_context.loop, backend, expire);
    if (error)
        return error;
    error = open_modules(server);
    if (error) {
        uw_loop_close(&server->server_context.loop);
        return error;
    }
    uw_slab_init(&server->server_context.connections, sizeof(struct uw_connection));
    uw_slab_init(&server->server_context.requests, sizeof(struct uw_request));
    uw_slab_init(&server->server_context.chunks, UW_CHUNK_SLAB_BYTES);
    own_slabs(server);
    uw_request_ids_init(&server->server_context.request_ids);
    uw_list_init(&server->server_context.all);
    uw_list_init(&server->server_context.dirty);
    uw_list_init(&server->server_context.dead);
    uw_list_init(&server->server_context.idle);
    uw_list_init(&server->server_context.handshaking);
    server->server_context.ended = connection_ended;
    uw_list_init(&server->waiting);
    return 0;
}

/* The connection that has been idle for longest; NULL: none is. */
static struct uw_connection *longest_idle(const struct uw_server *server)
{
    const struct uw_list *idle = &server->server_context.idle;

    return uw_list_empty(idle) ? NULL : uw_container_of(idle->next, struct uw_connection, idle);
}

static bool can_make_room(const struct uw_server *server)
{
    const struct uw_connection *longest = longest_idle(server);

    return longest && longest->spare_ns <= server->server_context.loop.now_ns && server->capacity > 0 &&
           !atomic_load(&server->server_context.draining);
}

/* Whether a new client may connect: below the limit, or instead of an idle connection. One client at a time waits for
 * the latter. */
static bool may_admit_client(const struct uw_server *server)
{
    return !uw_server_is_full(server) || (uw_list_empty(&server->waiting) && can_make_room(server));
}

/* Closes the connection that has been idle longest for a new client, as nginx does with reusable connections. This runs
 * at the end of an iteration, after all received bytes have been processed. */
static void make_room(struct uw_server *server)
{
    bool wanted = server->starved || (uw_server_is_full(server) && !uw_list_empty(&server->waiting));

    if (!wanted || server->server_context.yielding || !can_make_room(server))
        return;
    server->starved = false;
    uw_connection_yield(longest_idle(server));
}

/* Connections may have become idle since accepting was stopped, or the server may close them soon. */
static void reconsider_accepting(struct uw_server *server)
{
    const struct uw_connection *longest = longest_idle(server);

    if (!longest || atomic_load(&server->server_context.draining))
        return;
    if (may_admit_client(server))
        resume_accepting(server);
    else if (!can_make_room(server) && !server->accept_retry.active)
        uw_timer_start(&server->server_context.loop, &server->accept_retry, longest->spare_ns);
}

/* io_uring allocates a descriptor before it looks for a client. So it reports EMFILE even when no client waits. */
static bool somebody_waits(const struct uw_server *server)
{
    struct pollfd listeners[UW_LISTENERS_MAX];

    for (int i = 0; i < server->listener_count; i++)
        listeners[i] = (struct pollfd){.fd = server->listeners[i].accept.fd, .events = POLLIN};
    return poll(listeners, (nfds_t)server->listener_count, 0) > 0;
}

/* Another thread or process has ended listening on the socket, see uw_server_close_listeners: no client waits there.
 * EAGAIN comes from the receive time-out that uw_server_close_listeners sets. */
static bool listening_ended(int error)
{
    return error == -EINVAL || error == -EAGAIN;
}

static void retry_later(struct uw_server *server, int error)
{
    server->starved = uw_fd_limit_reached(error) && somebody_waits(server);
    if (server->starved || (!uw_fd_limit_reached(error) && !listening_ended(error)))
        uw_server_context_report_error(&server->server_context, UW_SYSTEM_ERROR_ACCEPT, NULL, error);
    uw_timer_start(&server->server_context.loop, &server->accept_retry,
                   server->server_context.loop.now_ns + UW_ACCEPT_RETRY_NS);
}

/* Descriptors or memory have run out; current clients are still served. Accepting resumes at once after cached
 * descriptors were closed, otherwise when a connection ends or after UW_ACCEPT_RETRY_NS. */
static void accept_failed(struct uw_server *server, int error)
{
    if (uw_fd_limit_reached(error) && uw_server_context_free_descriptors(&server->server_context))
        resume_accepting(server);
    else
        retry_later(server, error);
}

/* A process that drains and its successor accept from one socket. With io_uring the kernel wakes only one of them for
 * each client (see EPOLLEXCLUSIVE). If it woke this one, which has stopped accepting, the client would wait until
 * another connects. For a shared listener the kernel wakes all. */
static void accept_left(struct uw_server *server, struct uw_listener *listener)
{
    if (!listener->accept.shared && listener->taken < UW_DRAIN_LEFT_MAX && !uw_server_is_full(server))
        uw_submit(&server->server_context.loop, &listener->accept_left);
}

/* Ends when no client waits, or when accepting fails. */
static void accepted_left(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_listener *listener = uw_container_of(operation, struct uw_listener, accept_left);

    if (result >= 0) {
        listener->taken++;
        uw_connection_open(&server_of(loop)->server_context, listener, result);
    } else if (uw_accept_missed_one(-result)) {
        listener->taken++; /* others may wait */
    } else if (!uw_fd_limit_reached(result) || !uw_server_context_free_descriptors(&server_of(loop)->server_context)) {
        return;
    }
    accept_left(server_of(loop), listener);
}

static void accepted(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_listener *listener = uw_container_of(operation, struct uw_listener, accept);
    struct uw_server *server = server_of(loop);

    if (result >= 0) {
        uw_server_accepted(listener, result); /* another listener may have reached the limit */
        measure_room(server, result);
        if (!may_admit_client(server) ||
            (nearly_full(server) && !operation->oneshot && !atomic_load(&server->server_context.draining)))
            stop_accepting(server);
        else if (!nearly_full(server))
            operation->oneshot = false;
    }
    if (atomic_load(&server->server_context.draining)) {
        if (!operation->pending)
            accept_left(server, listener);
    } else if (result == -ECANCELED) {
        resume_accepting(server); /* a connection may have ended meanwhile */
    } else if (result < 0) {
        accept_failed(server, result);
    }
}

static void accept_from(struct uw_listener *listener)
{
    listener->accept.oneshot = nearly_full(listener->server);
    uw_submit(&listener->server->server_context.loop, &listener->accept);
}

static void resume_accepting(struct uw_server *server)
{
    UW_ASSERT_OWNER(&server->server_context.loop);
    if (!server->ended)
        uw_server_admit(server);
    if (atomic_load(&server->server_context.draining) || !may_admit_client(server))
        return;
    for (int i = 0; i < server->listener_count; i++)
        if (!server->listeners[i].accept.pending)
            accept_from(&server->listeners[i]);
}

static void note_address(struct uw_listener *listener, int fd)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof address;

    if (getsockname(fd, (struct sockaddr *)&address, &size) ||
        !uw_address_text(&address, listener->address, &listener->port))
        memcpy(listener->address, UNIX_ADDRESS, sizeof UNIX_ADDRESS);
}

static int listen_on(struct uw_server *server, int fd, struct uw_tls_context *tls, bool inherited)
{
    struct uw_listener *listener;

    UW_ASSERT_OWNER(&server->server_context.loop);
    if (server->listener_count == UW_LISTENERS_MAX)
        return -ENOSPC;
    listener = &server->listeners[server->listener_count++];
    listener->server = server;
    listener->transport = tls ? &uw_transport_tls : &uw_transport_plain;
    listener->tls = uw_tls_context_retain(tls);
    listener->inherited = inherited;
    listener->protocols = server->composition->protocols;
    listener->accept = (struct uw_operation){.opcode = UW_ACCEPT, .fd = fd, .complete = accepted};
    listener->accept_left = (struct uw_operation){.opcode = UW_ACCEPT_WAITING, .fd = fd, .complete = accepted_left};
    note_address(listener, fd);
    if (server->server_context.metrics)
        uw_server_measure_certificates(server);
    listener->accept.shared = is_shared(listener);
    if (!uw_server_is_full(server))
        accept_from(listener);
    return 0;
}

int uw_server_listen(struct uw_server *server, int fd)
{
    return uw_server_listen_tls(server, fd, NULL);
}

int uw_server_listen_tls(struct uw_server *server, int fd, struct uw_tls_context *tls)
{
    return listen_on(server, fd, tls, false);
}

int uw_server_listen_inherited(struct uw_server *server, int fd, struct uw_tls_context *tls)
{
    return listen_on(server, fd, tls, true);
}

void uw_server_accept_from(struct uw_server *server, int64_t at_ns)
{
    bool accepts = server->listener_count > 0 && server->capacity > 0;

    UW_ASSERT_OWNER(&server->server_context.loop);
    if (accepts || atomic_load(&server->server_context.draining))
        return;
    server->capacity = 0;
    uw_timer_start(&server->server_context.loop, &server->accept_retry, at_ns);
}

static void flush_dirty(struct uw_server *server)
{
    while (!uw_list_empty(&server->server_context.dirty)) {
        struct uw_connection *connection =
            uw_container_of(server->server_context.dirty.next, struct uw_connection, work);

        uw_connection_end_turn(connection);
    }
}

static void bury_dead(struct uw_server *server)
{
    while (!uw_list_empty(&server->server_context.dead)) {
        struct uw_connection *connection =
            uw_container_of(server->server_context.dead.next, struct uw_connection, work);

        uw_list_remove(&connection->work);
        uw_connection_free(connection);
    }
}

static bool gathers(const struct uw_server *server)
{
    return server->server_context.settings.answers_at_once &&
           server->server_context.connections.taken >= UW_GATHER_CONNECTIONS_MIN;
}

/* Before the wait, and before the application gets its requests. */
static void measure(struct uw_server *server)
{
    if (!server->server_context.metrics)
        return;
    uw_server_measure(&server->server_context);
    for (const struct uw_module *const *module = server->composition->modules; *module; module++)
        if ((*module)->measure)
            (*module)->measure(&server->server_context);
}

/* Counts the handler's requests and events so far. */
static uint64_t things_asked(const struct uw_server *server)
{
    return server->server_context.counts.requests + server->server_context.events;
}

int uw_server_turn(struct uw_server *server, int64_t wait_ns)
{
    uint64_t asked = things_asked(server);
    int error;

    UW_ASSERT_OWNER(&server->server_context.loop);
    server->server_context.loop.gather_max = gathers(server) ? UW_GATHER_MAX : 0;
    flush_dirty(server);
    bury_dead(server);
    if (atomic_load(&server->server_context.draining) && uw_server_drained(server))
        wait_ns = 0; /* the last connection has closed: no more events come */
    if (things_asked(server) != asked)
        wait_ns = 0; /* input received earlier: the handler has something to do */
    measure(server);
    error = uw_loop_turn(&server->server_context.loop, wait_ns);
    flush_dirty(server);
    make_room(server);
    bury_dead(server);
    if (uw_server_is_full(server))
        reconsider_accepting(server);
    measure(server);
    return error;
}

void uw_server_flush(struct uw_server *server)
{
    UW_ASSERT_OWNER(&server->server_context.loop);
    server->server_context.loop.now_ns = uw_clock_ns();
    flush_dirty(server);
    uw_loop_flush(&server->server_context.loop);
}

void uw_server_announce_drain(struct uw_server *server)
{
    atomic_store(&server->server_context.drain_announced, true);
}

void uw_server_drain(struct uw_server *server)
{
    struct uw_list *node;

    UW_ASSERT_OWNER(&server->server_context.loop);
    if (server->capacity == 0)
        measure_room(server, 0);
    resume_accepting(server); /* if accepting had to pause: accepts the backlog */
    atomic_store(&server->server_context.draining, true);
    uw_timer_stop(&server->server_context.loop, &server->accept_retry);
    leave_inherited_sockets(server);
    drain_backlog(server);
    for (node = server->server_context.all.next; node != &server->server_context.all; node = node->next)
        uw_connection_drain(uw_container_of(node, struct uw_connection, link));
}

bool uw_server_drained(const struct uw_server *server)
{
    UW_ASSERT_OWNER(&server->server_context.loop);
    if (server->accept_retry.active || !uw_server_is_finished(server) || !uw_list_empty(&server->waiting))
        return false;
    for (int i = 0; i < server->listener_count; i++)
        if (server->listeners[i].accept.pending || server->listeners[i].accept_left.pending)
            return false;
    return true;
}

void uw_server_end_connections(struct uw_server *server)
{
    for (struct uw_list *node = server->server_context.all.next; node != &server->server_context.all; node = node->next)
        uw_connection_end(uw_container_of(node, struct uw_connection, link));
}

void uw_server_stop(struct uw_server *server)
{
    UW_ASSERT_OWNER(&server->server_context.loop);
    server->ended = server->server_context.closing = true;
    stop_modules(server);
    for (struct uw_list *node = server->server_context.all.next; node != &server->server_context.all; node = node->next)
        uw_connection_close(uw_container_of(node, struct uw_connection, link));
    uw_loop_receive(&server->server_context.loop);
    uw_loop_flush(&server->server_context.loop); /* publications to other processes */
    uw_server_refuse_waiting(server);
}

/* Posted messages release their resources. */
static void receive_last(struct uw_server *server)
{
    for (struct uw_list *node = server->server_context.all.next; node != &server->server_context.all; node = node->next)
        uw_container_of(node, struct uw_connection, link)->state = UW_CONNECTION_CLOSED;
    uw_loop_receive(&server->server_context.loop);
}

/* The loop has accepted a client but no longer reports it. */
static void drop_accepted(struct uw_server *server)
{
    for (int i = 0; i < server->listener_count; i++) {
        const struct uw_operation *accept = &server->listeners[i].accept_left;

        if (accept->pending && accept->ended && accept->result >= 0)
            uw_shutdown_and_close(accept->result);
    }
}

static void release_contexts(struct uw_server *server)
{
    for (int i = 0; i < server->listener_count; i++)
        uw_tls_context_release(server->listeners[i].tls);
}

void uw_server_close(struct uw_server *server)
{
    server->ended = server->server_context.closing = true;
    mute_modules(server);
    stop_modules(server);
    uw_server_end_connections(server);
    uw_loop_close(&server->server_context.loop); /* first: nothing is pending in the kernel after it */
    drop_accepted(server);
    own_slabs(server);
    receive_last(server);
    uw_server_refuse_waiting(server);
    for (struct uw_list *node = server->server_context.all.next; node != &server->server_context.all; node = node->next)
        uw_connection_discard(uw_container_of(node, struct uw_connection, link));
    close_modules(server, NULL);
    release_contexts(server);
    uw_slab_destroy(&server->server_context.requests);
    uw_slab_destroy(&server->server_context.chunks);
    uw_slab_destroy(&server->server_context.connections);
}
