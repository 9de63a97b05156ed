#include "bus/bus.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct uw_bus *bus_of(struct uw_bus_receivers *receivers)
{
    return uw_container_of(receivers, struct uw_bus, receivers);
}

static void report_error(const struct uw_bus *bus, int error)
{
    if (bus->callbacks.troubled)
        bus->callbacks.troubled(bus->callbacks.context, error);
}

static void handle_sender_error(struct uw_bus_senders *senders, int error)
{
    report_error(uw_container_of(senders, struct uw_bus, senders), error);
}

static bool all_peers_have_answered(const struct uw_bus *bus)
{
    for (struct uw_list *node = bus->senders.links.next; node != &bus->senders.links; node = node->next) {
        const struct uw_bus_sender *sender = uw_container_of(node, struct uw_bus_sender, link);

        if (uw_bus_sender_is_connected(sender) && !sender->answered)
            return false;
    }
    return true;
}

static void handle_answer(struct uw_bus *bus, const char *name)
{
    uw_bus_sender_set_answered(&bus->senders, name);
    if (bus->joined || !all_peers_have_answered(bus))
        return;
    bus->joined = true;
    if (bus->callbacks.joined)
        bus->callbacks.joined(bus->callbacks.context);
}

static int handle_greeting(struct uw_bus_receivers *receivers, const char *name)
{
    struct uw_bus *bus = bus_of(receivers);
    int error;

    if (strcmp(name, bus->senders.directory.name) == 0)
        return 0;
    error = uw_bus_sender_ensure(&bus->senders, name);
    if (!error)
        handle_answer(bus, name);
    return error;
}

static void handle_message(struct uw_bus_receivers *receivers, const struct uw_bus_frame *frame)
{
    struct uw_bus *bus = bus_of(receivers);

    bus->received++;
    bus->callbacks.received(bus->callbacks.context, frame->channel, frame->channel_length, frame->message,
                            frame->message_length, frame->flags & UW_BUS_TEXT);
}

static int connect_to_peer(void *context, const char *name)
{
    return uw_bus_sender_ensure(context, name);
}

/* Without descriptors or memory the accept operation ends. New connections wait in the backlog until the retry. */
static void handle_accepted(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_bus *bus = uw_container_of(operation, struct uw_bus, accept);
    int error = result < 0 ? result : uw_bus_receiver_open(&bus->receivers, result);

    if (error && error != -ECANCELED)
        report_error(bus, error);
    if (!operation->pending)
        uw_timer_start(loop, &bus->accept_retry, loop->now_ns + UW_BUS_ACCEPT_RETRY_NS);
}

static void accept_again(struct uw_loop *loop, struct uw_timer *timer)
{
    uw_submit(loop, &uw_container_of(timer, struct uw_bus, accept_retry)->accept);
}

static void init_bus(struct uw_bus *bus, struct uw_loop *loop, struct uw_bus_callbacks callbacks)
{
    memset(bus, 0, sizeof *bus);
    bus->senders.loop = bus->receivers.loop = loop;
    bus->callbacks = callbacks;
    bus->senders.failed = handle_sender_error;
    bus->receivers.hello = handle_greeting;
    bus->receivers.message = handle_message;
    bus->accept = (struct uw_operation){.opcode = UW_ACCEPT, .fd = -1, .complete = handle_accepted};
    bus->accept_retry.expire = accept_again;
    uw_list_init(&bus->senders.links);
    uw_list_init(&bus->receivers.connections);
}

/* A member listens before it looks for peers. So of two members that start at once, at least one finds the other. */
int uw_bus_open(struct uw_bus *bus, struct uw_loop *loop, const char *folder, struct uw_bus_callbacks callbacks)
{
    int fd, error;

    UW_ASSERT_OWNER(loop);
    init_bus(bus, loop, callbacks);
    error = uw_bus_directory_open(&bus->senders.directory, folder);
    if (error)
        return error;
    fd = uw_bus_directory_listen(&bus->senders.directory);
    if (fd < 0)
        return fd;
    bus->accept.fd = fd;
    uw_submit(loop, &bus->accept);
    error = uw_bus_directory_each_peer(&bus->senders.directory, connect_to_peer, &bus->senders);
    bus->joined = all_peers_have_answered(bus);
    return error;
}

/* Counts the peers without a connection, including processes that have exited. */
static size_t count_unconnected(const struct uw_bus *bus)
{
    size_t count = 0;

    for (struct uw_list *node = bus->senders.links.next; node != &bus->senders.links; node = node->next)
        count += !uw_bus_sender_is_connected(uw_container_of(node, struct uw_bus_sender, link));
    return count;
}

static int send_to_all(struct uw_bus *bus, struct uw_bus_shared_frame *shared_frame)
{
    struct uw_bus_queue_entry *entry = shared_frame->entries;
    int count = 0;

    for (struct uw_list *node = bus->senders.links.next; node != &bus->senders.links; node = node->next) {
        struct uw_bus_sender *sender = uw_container_of(node, struct uw_bus_sender, link);

        if (uw_bus_sender_is_connected(sender))
            count += uw_bus_sender_send(sender, shared_frame, entry++);
    }
    bus->senders.sent += (uint64_t)count;
    return count;
}

int uw_bus_publish(struct uw_bus *bus, const char *channel, size_t channel_length, const char *message,
                   size_t message_length, bool text)
{
    const struct uw_bus_frame frame = {.flags = text ? UW_BUS_TEXT : 0,
                                       .channel = channel,
                                       .channel_length = channel_length,
                                       .message = message,
                                       .message_length = message_length};
    size_t links = bus->senders.connected;
    struct uw_bus_shared_frame *shared_frame;
    int count;

    UW_ASSERT_OWNER(bus->senders.loop);
    bus->senders.dropped += count_unconnected(bus);
    if (links == 0)
        return 0;
    shared_frame = uw_bus_shared_frame_new(&frame, links);
    if (!shared_frame) {
        count = uw_bus_frame_bytes(channel_length, message_length) ? -ENOMEM : -EMSGSIZE;
        bus->senders.dropped += links;
        report_error(bus, count);
        return count;
    }
    count = send_to_all(bus, shared_frame);
    uw_bus_shared_frame_release(shared_frame);
    return count;
}

struct uw_bus_stats uw_bus_stats(const struct uw_bus *bus)
{
    return (struct uw_bus_stats){.peers = bus->senders.connected,
                                 .incoming_peers = bus->receivers.greeted,
                                 .sent = bus->senders.sent,
                                 .dropped = bus->senders.dropped,
                                 .received = bus->received};
}

void uw_bus_abandon(struct uw_bus *bus)
{
    if (!bus->senders.loop)
        return;
    while (!uw_list_empty(&bus->senders.links))
        uw_bus_sender_discard(uw_container_of(bus->senders.links.next, struct uw_bus_sender, link));
    while (!uw_list_empty(&bus->receivers.connections))
        uw_bus_receiver_discard(uw_container_of(bus->receivers.connections.next, struct uw_bus_receiver, link));
    if (bus->accept.fd >= 0)
        close(bus->accept.fd);
    memset(bus, 0, sizeof *bus);
}

/* A child process may share the descriptors, so close(2) alone would not end the connections. Peers still receive data
 * that is in the kernel. */
static void shut_down_connections(const struct uw_bus *bus)
{
    (void)shutdown(bus->accept.fd, SHUT_RDWR);
    for (struct uw_list *node = bus->senders.links.next; node != &bus->senders.links; node = node->next)
        (void)shutdown(uw_container_of(node, struct uw_bus_sender, link)->fd, SHUT_RDWR);
    for (struct uw_list *node = bus->receivers.connections.next; node != &bus->receivers.connections; node = node->next)
        (void)shutdown(uw_container_of(node, struct uw_bus_receiver, link)->receive.fd, SHUT_RDWR);
}

void uw_bus_close(struct uw_bus *bus)
{
    if (!bus->senders.loop)
        return;
    if (bus->accept.fd >= 0)
        uw_bus_directory_remove_socket(&bus->senders.directory);
    shut_down_connections(bus);
    uw_bus_abandon(bus);
}
