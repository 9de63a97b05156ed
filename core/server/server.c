#include "server/server.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>

#include "base/descriptors.h"
#include "base/memory.h"
#include "http1/http1.h"
#include "io/accept.h"
#include "io/hang_up.h"
#include "push/afar_room.h"
#include "push/channels.h"
#include "push/ear.h"
#include "server/connection.h"
#include "transport/tls_context.h"
#include "websocket/deflate.h"

#define UNIX_ADDRESS "localhost"

static void resume_accepting(struct uw_server *server);

static const struct uw_protocol *const protocols[] = {&uw_protocol_http1, NULL};

static struct uw_server *server_of(struct uw_loop *loop)
{
    return uw_owner(loop, struct uw_server, service.loop);
}

/* Whoever has to wait for room shall wait in the backlog, where another process finds him: so the kernel must not
 * accept many at once when there is room for a few. */
static bool nearly_full(const struct uw_server *server)
{
    return server->room < server->service.connections.taken + UW_BACKLOG_MAX;
}

static void stop_accepting(struct uw_server *server)
{
    for (int i = 0; i < server->listener_count; i++)
        uw_cancel(&server->service.loop, &server->listeners[i].accept);
}

/* Those who are served are going to leave some, and nobody else is. */
static void await_room(struct uw_server *server)
{
    if (atomic_load(&server->some_left) && server->service.connections.taken > 0)
        uw_timer_start(&server->service.loop, &server->accept_retry, server->service.loop.now_ns + UW_ACCEPT_RETRY_NS);
}

/* Clients that the kernel has connected already are served too: accepting ends with the first turn that accepts nobody,
 * or after so many turns where another process accepts from the same socket for ever. */
static void drain_backlog(struct uw_server *server)
{
    bool quiet = server->service.counts.accepted == server->accepted_before;

    server->accepted_before = server->service.counts.accepted;
    if (server->drain_turns > 0 && (quiet || server->drain_turns == UW_DRAIN_TURNS_MAX)) {
        stop_accepting(server);
        await_room(server);
        return;
    }
    server->drain_turns++;
    uw_timer_start(&server->service.loop, &server->accept_retry, server->service.loop.now_ns); /* in the next turn */
}

static void retry_to_drain_backlog(struct uw_server *server)
{
    if (atomic_load(&server->some_left)) {
        uw_server_end_listening(server);
        server->drain_turns = 0; /* whom it has accepted arrives in the next turn */
    }
    drain_backlog(server);
}

/* Whoever is served needs descriptors, too, for files and for what the application opens. When `fd`, a client's, is one
 * of the last the server is full, unless enough are given up: until somebody leaves, or a while later, when others of
 * this process have given some back. */
static void measure_room(struct uw_server *server, int fd)
{
    size_t missing = uw_descriptors_missing(fd), now = uw_server_connections(server);

    server->room = server->service.settings.connections_max;
    if (missing == 0 || uw_service_give_up(&server->service) >= missing)
        return;
    server->room = now > 0 ? now : 1;
    if (!atomic_load(&server->service.draining))
        uw_timer_start(&server->service.loop, &server->accept_retry, server->service.loop.now_ns + UW_ACCEPT_RETRY_NS);
}

static void retry_to_accept(struct uw_server *server)
{
    int next = server->room < server->service.settings.connections_max
                   ? uw_descriptors_next(server->listeners[0].accept.fd)
                   : 0;

    measure_room(server, next < 0 ? INT_MAX : next);
    resume_accepting(server);
}

static void expire(struct uw_loop *loop, struct uw_timer *timer)
{
    struct uw_server *server = server_of(loop);

    if (timer == &server->accept_retry && atomic_load(&server->service.draining))
        retry_to_drain_backlog(server);
    else if (timer == &server->accept_retry)
        retry_to_accept(server);
    else
        uw_connection_timeout(uw_owner(timer, struct uw_connection, timer));
}

/* Whoever waits finds room. */
static void connection_ended(struct uw_service *service)
{
    resume_accepting(uw_owner(service, struct uw_server, service));
}

static void own_slabs(struct uw_server *server)
{
    uw_slab_own(&server->service.connections);
    uw_slab_own(&server->service.requests);
    uw_slab_own(&server->service.chunks);
    uw_channels_own(server->service.channels);
}

int uw_server_open(struct uw_server *server, const struct uw_server_settings *settings, const char *backend,
                   struct uw_handler handler)
{
    int error;

    if (settings->message_bytes_max > UW_MESSAGE_BYTES_MAX)
        return -EINVAL;
    uw_memory_keep();
    memset(server, 0, sizeof *server);
    server->service.settings = *settings;
    server->room = settings->connections_max;
    server->service.handler = handler;
    error = uw_loop_open(&server->service.loop, backend, expire);
    if (error)
        return error;
    server->service.channels = uw_channels_new(&server->service);
    if (!server->service.channels) {
        uw_loop_close(&server->service.loop);
        return -ENOMEM;
    }
    uw_slab_init(&server->service.connections, sizeof(struct uw_connection));
    uw_slab_init(&server->service.requests, sizeof(struct uw_request));
    uw_slab_init(&server->service.chunks, UW_CHUNK_SLAB_BYTES);
    own_slabs(server);
    uw_list_init(&server->service.all);
    uw_list_init(&server->service.dirty);
    uw_list_init(&server->service.dead);
    uw_list_init(&server->service.handshaking);
    uw_list_init(&server->service.crowd);
    server->service.ended = connection_ended;
    uw_list_init(&server->waiting);
    return 0;
}

/* Out of descriptors or memory: those connected are served on; accepting resumes at once when there are descriptors to
 * spare, otherwise when one of those connected ends, or after a while. */
static void accept_failed(struct uw_server *server, int error)
{
    if (uw_descriptors_ran_out(error) && uw_service_give_up(&server->service))
        resume_accepting(server);
    else
        uw_timer_start(&server->service.loop, &server->accept_retry, server->service.loop.now_ns + UW_ACCEPT_RETRY_NS);
}

/* Of the processes that accept from one socket through io_uring, the kernel wakes one for each client (see
 * EPOLLEXCLUSIVE). Had that been this one, which no longer accepts, the client would wait in the backlog until another
 * comes. */
static void accept_left(struct uw_server *server, struct uw_listener *listener)
{
    if (listener->taken < UW_DRAIN_LEFT_MAX && !uw_server_is_full(server))
        uw_submit(&server->service.loop, &listener->accept_left);
}

/* Nobody is left, or the kernel cannot be asked. */
static void accepted_left(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_listener *listener = uw_owner(operation, struct uw_listener, accept_left);

    if (result >= 0) {
        listener->taken++;
        uw_connection_open(&server_of(loop)->service, listener, result);
    } else if (uw_accept_missed_one(-result)) {
        listener->taken++; /* others may be left */
    } else if (!uw_descriptors_ran_out(result) || !uw_service_give_up(&server_of(loop)->service)) {
        return;
    }
    accept_left(server_of(loop), listener);
}

static void accepted(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_listener *listener = uw_owner(operation, struct uw_listener, accept);
    struct uw_server *server = server_of(loop);

    if (result >= 0) {
        uw_server_take_in(listener, result); /* another listener may have taken the last room */
        measure_room(server, result);
        if (uw_server_is_full(server) ||
            (nearly_full(server) && !operation->stepwise && !atomic_load(&server->service.draining)))
            stop_accepting(server);
        else if (!nearly_full(server))
            operation->stepwise = false;
    }
    if (atomic_load(&server->service.draining)) {
        if (!operation->pending)
            accept_left(server, listener);
    } else if (result == -ECANCELED) {
        resume_accepting(server); /* room may have come since */
    } else if (result < 0) {
        accept_failed(server, result);
    }
}

static void accept_from(struct uw_listener *listener)
{
    listener->accept.stepwise = nearly_full(listener->server);
    uw_submit(&listener->server->service.loop, &listener->accept);
}

static void resume_accepting(struct uw_server *server)
{
    UW_ASSERT_OWNER(&server->service.loop);
    if (!server->ended)
        uw_server_admit(server);
    if (atomic_load(&server->service.draining) || uw_server_is_full(server))
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

int uw_server_listen(struct uw_server *server, int fd)
{
    return uw_server_listen_tls(server, fd, NULL);
}

int uw_server_listen_tls(struct uw_server *server, int fd, struct uw_tls_context *tls)
{
    struct uw_listener *listener;

    UW_ASSERT_OWNER(&server->service.loop);
    if (server->listener_count == UW_LISTENERS_MAX)
        return -ENOSPC;
    listener = &server->listeners[server->listener_count++];
    listener->server = server;
    listener->transport = tls ? &uw_transport_tls : &uw_transport_plain;
    listener->tls = uw_tls_context_hold(tls);
    listener->protocols = protocols;
    listener->accept = (struct uw_operation){.verb = UW_ACCEPT, .fd = fd, .complete = accepted};
    listener->accept_left = (struct uw_operation){.verb = UW_ACCEPT_WAITING, .fd = fd, .complete = accepted_left};
    note_address(listener, fd);
    if (!uw_server_is_full(server))
        accept_from(listener);
    return 0;
}

void uw_server_accept_from(struct uw_server *server, int64_t at_ns)
{
    bool accepts = server->listener_count > 0 && server->room > 0;

    UW_ASSERT_OWNER(&server->service.loop);
    if (accepts || atomic_load(&server->service.draining))
        return;
    server->room = 0;
    uw_timer_start(&server->service.loop, &server->accept_retry, at_ns);
}

static void flush_dirty(struct uw_server *server)
{
    while (!uw_list_empty(&server->service.dirty)) {
        struct uw_connection *connection = uw_owner(server->service.dirty.next, struct uw_connection, work);

        uw_connection_end_turn(connection);
    }
}

static void bury_dead(struct uw_server *server)
{
    while (!uw_list_empty(&server->service.dead)) {
        struct uw_connection *connection = uw_owner(server->service.dead.next, struct uw_connection, work);

        uw_list_remove(&connection->work);
        uw_connection_bury(connection);
    }
}

static bool gathers(const struct uw_server *server)
{
    return server->service.settings.answers_at_once && server->service.connections.taken >= UW_GATHER_CONNECTIONS_MIN;
}

/* Of the handler, so far. */
static uint64_t things_asked(const struct uw_server *server)
{
    return server->service.counts.requests + server->service.events;
}

int uw_server_turn(struct uw_server *server, int64_t wait_ns)
{
    uint64_t asked = things_asked(server);
    int error;

    UW_ASSERT_OWNER(&server->service.loop);
    server->service.loop.gather_max = gathers(server) ? UW_GATHER_MAX : 0;
    flush_dirty(server);
    bury_dead(server);
    if (atomic_load(&server->service.draining) && uw_server_drained(server))
        wait_ns = 0; /* that was the last connection: nothing comes any more */
    if (things_asked(server) != asked)
        wait_ns = 0; /* of what had been received ahead: the handler has something to do */
    error = uw_loop_turn(&server->service.loop, wait_ns);
    flush_dirty(server);
    bury_dead(server);
    return error;
}

void uw_server_flush(struct uw_server *server)
{
    UW_ASSERT_OWNER(&server->service.loop);
    server->service.loop.now_ns = uw_clock_ns();
    flush_dirty(server);
    uw_loop_flush(&server->service.loop);
}

void uw_server_drain(struct uw_server *server)
{
    struct uw_list *node;

    UW_ASSERT_OWNER(&server->service.loop);
    if (server->room == 0)
        measure_room(server, 0);
    resume_accepting(server); /* if it had to pause: for the backlog */
    atomic_store(&server->service.draining, true);
    uw_timer_stop(&server->service.loop, &server->accept_retry);
    drain_backlog(server);
    for (node = server->service.all.next; node != &server->service.all; node = node->next)
        uw_connection_drain(uw_owner(node, struct uw_connection, link));
}

bool uw_server_drained(const struct uw_server *server)
{
    UW_ASSERT_OWNER(&server->service.loop);
    if (server->accept_retry.active || !uw_server_is_finished(server) || !uw_list_empty(&server->waiting))
        return false;
    for (int i = 0; i < server->listener_count; i++)
        if (server->listeners[i].accept.pending || server->listeners[i].accept_left.pending)
            return false;
    return true;
}

void uw_server_end_connections(struct uw_server *server)
{
    for (struct uw_list *node = server->service.all.next; node != &server->service.all; node = node->next)
        uw_connection_end(uw_owner(node, struct uw_connection, link));
}

void uw_server_stop(struct uw_server *server)
{
    UW_ASSERT_OWNER(&server->service.loop);
    server->ended = server->service.closing = true;
    uw_afar_room_close(server->service.channels->room);
    for (struct uw_list *node = server->service.all.next; node != &server->service.all; node = node->next)
        uw_connection_close(uw_owner(node, struct uw_connection, link));
    uw_loop_receive(&server->service.loop);
    uw_loop_flush(&server->service.loop); /* what other processes are told */
    uw_server_turn_away(server);
}

/* What was posted gives back what it has borrowed. */
static void receive_last(struct uw_server *server)
{
    for (struct uw_list *node = server->service.all.next; node != &server->service.all; node = node->next)
        uw_owner(node, struct uw_connection, link)->state = UW_CONNECTION_CLOSED;
    uw_loop_receive(&server->service.loop);
}

/* The loop has accepted a client, and tells nobody any more. */
static void drop_accepted(struct uw_server *server)
{
    for (int i = 0; i < server->listener_count; i++) {
        const struct uw_operation *accept = &server->listeners[i].accept_left;

        if (accept->pending && accept->ended && accept->result >= 0)
            uw_hang_up(accept->result);
    }
}

static void release_contexts(struct uw_server *server)
{
    for (int i = 0; i < server->listener_count; i++)
        uw_tls_context_release(server->listeners[i].tls);
}

void uw_server_close(struct uw_server *server)
{
    server->ended = server->service.closing = true;
    server->service.channels->changed = NULL; /* nobody is told any more */
    server->service.channels->spread = NULL;
    uw_afar_room_close(server->service.channels->room);
    uw_server_end_connections(server);
    uw_loop_close(&server->service.loop); /* first: nothing is pending in the kernel after it */
    drop_accepted(server);
    own_slabs(server);
    receive_last(server);
    uw_server_turn_away(server);
    for (struct uw_list *node = server->service.all.next; node != &server->service.all; node = node->next)
        uw_connection_discard(uw_owner(node, struct uw_connection, link));
    uw_ears_discard(server->service.channels);
    release_contexts(server);
    uw_channels_free(server->service.channels);
    uw_deflate_free(server->service.deflate);
    uw_slab_free(&server->service.requests);
    uw_slab_free(&server->service.chunks);
    uw_slab_free(&server->service.connections);
}
