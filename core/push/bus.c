#include "push/bus.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct uw_bus *bus_of(struct uw_bus_hearer *hearer)
{
    return uw_owner(hearer, struct uw_bus, hearer);
}

static bool all_have_answered(const struct uw_bus *bus)
{
    for (struct uw_list *node = bus->sender.links.next; node != &bus->sender.links; node = node->next) {
        const struct uw_bus_link *link = uw_owner(node, struct uw_bus_link, link);

        if (uw_bus_link_is_up(link) && !link->answered)
            return false;
    }
    return true;
}

static void note_answer(struct uw_bus *bus, const char *name)
{
    uw_bus_link_note_answer(&bus->sender, name);
    if (bus->joined || !all_have_answered(bus))
        return;
    bus->joined = true;
    if (bus->callbacks.joined)
        bus->callbacks.joined(bus->callbacks.context);
}

static int greeted(struct uw_bus_hearer *hearer, const char *name)
{
    struct uw_bus *bus = bus_of(hearer);
    int error;

    if (strcmp(name, bus->sender.place.name) == 0)
        return 0;
    error = uw_bus_link_make(&bus->sender, name);
    if (!error)
        note_answer(bus, name);
    return error;
}

static void message_came(struct uw_bus_hearer *hearer, const struct uw_bus_frame *frame)
{
    struct uw_bus *bus = bus_of(hearer);

    bus->received++;
    bus->callbacks.received(bus->callbacks.context, frame->channel, frame->channel_length, frame->message,
                            frame->message_length, frame->flags & UW_BUS_TEXT);
}

static int found(void *context, const char *name)
{
    return uw_bus_link_make(context, name);
}

/* Accepting has ended for want of something: others wait in the backlog meanwhile. */
static void accepted(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_bus *bus = uw_owner(operation, struct uw_bus, accept);

    if (result >= 0)
        uw_bus_speaker_open(&bus->hearer, result);
    if (!operation->pending)
        uw_timer_start(loop, &bus->accept_retry, loop->now_ns + UW_BUS_ACCEPT_RETRY_NS);
}

static void accept_again(struct uw_loop *loop, struct uw_timer *timer)
{
    uw_submit(loop, &uw_owner(timer, struct uw_bus, accept_retry)->accept);
}

static void init(struct uw_bus *bus, struct uw_loop *loop, struct uw_bus_callbacks callbacks)
{
    memset(bus, 0, sizeof *bus);
    bus->sender.loop = bus->hearer.loop = loop;
    bus->callbacks = callbacks;
    bus->hearer.hello = greeted;
    bus->hearer.message = message_came;
    bus->accept = (struct uw_operation){.verb = UW_ACCEPT, .fd = -1, .complete = accepted};
    bus->accept_retry.expire = accept_again;
    uw_list_init(&bus->sender.links);
    uw_list_init(&bus->hearer.speakers);
}

/* Of two that begin at once each is to be found before it looks: then one at least finds the other. */
int uw_bus_open(struct uw_bus *bus, struct uw_loop *loop, const char *folder, struct uw_bus_callbacks callbacks)
{
    int fd, error;

    UW_ASSERT_OWNER(loop);
    init(bus, loop, callbacks);
    error = uw_bus_place_open(&bus->sender.place, folder);
    if (error)
        return error;
    fd = uw_bus_place_listen(&bus->sender.place);
    if (fd < 0)
        return fd;
    bus->accept.fd = fd;
    uw_submit(loop, &bus->accept);
    error = uw_bus_place_look(&bus->sender.place, found, &bus->sender);
    bus->joined = all_have_answered(bus);
    return error;
}

/* Of whom it is not known whether they are there. */
static size_t count_unreachable(const struct uw_bus *bus)
{
    size_t count = 0;

    for (struct uw_list *node = bus->sender.links.next; node != &bus->sender.links; node = node->next)
        count += !uw_bus_link_is_up(uw_owner(node, struct uw_bus_link, link));
    return count;
}

static int send_to_all(struct uw_bus *bus, struct uw_bus_parcel *parcel)
{
    struct uw_bus_waiting *place = parcel->places;
    int count = 0;

    for (struct uw_list *node = bus->sender.links.next; node != &bus->sender.links; node = node->next) {
        struct uw_bus_link *link = uw_owner(node, struct uw_bus_link, link);

        if (uw_bus_link_is_up(link))
            count += uw_bus_link_send(link, parcel, place++);
    }
    bus->sender.sent += (uint64_t)count;
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
    size_t links = bus->sender.up;
    struct uw_bus_parcel *parcel;
    int count;

    UW_ASSERT_OWNER(bus->sender.loop);
    bus->sender.dropped += count_unreachable(bus);
    if (links == 0)
        return 0;
    parcel = uw_bus_parcel_new(&frame, links);
    if (!parcel) {
        bus->sender.dropped += links;
        return uw_bus_frame_bytes(channel_length, message_length) ? -ENOMEM : -EMSGSIZE;
    }
    count = send_to_all(bus, parcel);
    uw_bus_parcel_release(parcel);
    return count;
}

struct uw_bus_stats uw_bus_stats(const struct uw_bus *bus)
{
    return (struct uw_bus_stats){.peers = bus->sender.up,
                                 .hears = bus->hearer.greeted,
                                 .sent = bus->sender.sent,
                                 .dropped = bus->sender.dropped,
                                 .received = bus->received};
}

void uw_bus_abandon(struct uw_bus *bus)
{
    if (!bus->sender.loop)
        return;
    while (!uw_list_empty(&bus->sender.links))
        uw_bus_link_discard(uw_owner(bus->sender.links.next, struct uw_bus_link, link));
    while (!uw_list_empty(&bus->hearer.speakers))
        uw_bus_speaker_discard(uw_owner(bus->hearer.speakers.next, struct uw_bus_speaker, link));
    if (bus->accept.fd >= 0)
        close(bus->accept.fd);
    memset(bus, 0, sizeof *bus);
}

/* A child process may have the descriptors, too: closing alone would end nothing for the others. What has been sent is
 * received all the same. */
static void shut(const struct uw_bus *bus)
{
    (void)shutdown(bus->accept.fd, SHUT_RDWR);
    for (struct uw_list *node = bus->sender.links.next; node != &bus->sender.links; node = node->next)
        (void)shutdown(uw_owner(node, struct uw_bus_link, link)->fd, SHUT_RDWR);
    for (struct uw_list *node = bus->hearer.speakers.next; node != &bus->hearer.speakers; node = node->next)
        (void)shutdown(uw_owner(node, struct uw_bus_speaker, link)->receive.fd, SHUT_RDWR);
}

void uw_bus_close(struct uw_bus *bus)
{
    if (!bus->sender.loop)
        return;
    if (bus->accept.fd >= 0)
        uw_bus_place_leave(&bus->sender.place);
    shut(bus);
    uw_bus_abandon(bus);
}
