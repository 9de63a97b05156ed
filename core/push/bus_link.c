#include "push/bus_link.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARCEL_BYTES (sizeof(struct uw_bus_parcel) + sizeof(struct uw_bus_waiting))

static_assert(UW_BUS_FRAME_BYTES_MAX + PARCEL_BYTES <= UW_BUS_PEER_BYTES_MAX, "every frame may wait");

struct uw_bus_parcel *uw_bus_parcel_new(const struct uw_bus_frame *frame, size_t places)
{
    size_t length = uw_bus_frame_bytes(frame->channel_length, frame->message_length);
    size_t head = sizeof(struct uw_bus_parcel) + places * sizeof(struct uw_bus_waiting);
    struct uw_bus_parcel *parcel = length ? malloc(head + length) : NULL;
    struct uw_bus_frame written = *frame;

    if (!parcel)
        return NULL;
    *parcel = (struct uw_bus_parcel){.holds = 1, .length = length, .bytes = (char *)parcel + head};
    uw_bus_frame_write(parcel->bytes, &written);
    return parcel;
}

void uw_bus_parcel_release(struct uw_bus_parcel *parcel)
{
    if (--parcel->holds == 0)
        free(parcel);
}

static void put(struct uw_bus_link *link, struct uw_bus_parcel *parcel, struct uw_bus_waiting *place)
{
    *place = (struct uw_bus_waiting){.parcel = parcel};
    parcel->holds++;
    *link->last = place;
    link->last = &place->next;
    link->waiting_bytes += parcel->length + PARCEL_BYTES;
}

static void take_first(struct uw_bus_link *link)
{
    struct uw_bus_parcel *parcel = link->first->parcel;

    link->first = link->first->next;
    if (!link->first)
        link->last = &link->first;
    link->waiting_bytes -= parcel->length + PARCEL_BYTES;
    link->first_sent = 0;
    uw_bus_parcel_release(parcel);
}

static void drop_waiting(struct uw_bus_link *link)
{
    for (; link->first; take_first(link))
        link->sender->dropped++;
}

static void forget(struct uw_bus_link *link)
{
    uw_list_remove(&link->link);
    uw_timer_stop(link->sender->loop, &link->retry);
    free(link);
}

/* One that was stopped for want of memory is there still, and one that is being killed may be so for a moment: whether
 * it is gone is told by connecting to it. */
static void connect_later(struct uw_bus_link *link)
{
    uw_timer_start(link->sender->loop, &link->retry, uw_clock_ns() + link->pause_ns);
    if (link->pause_ns < UW_BUS_PAUSE_MAX_NS)
        link->pause_ns *= 2; /* whom it does not suit is asked more seldom */
}

static void settle(struct uw_bus_link *link)
{
    if (link->receive.pending || link->writable.pending)
        return;
    (void)uw_close(link->sender->loop, link->fd);
    link->fd = -1;
    connect_later(link);
}

static void end(struct uw_bus_link *link)
{
    if (!link->ended) {
        link->ended = true;
        link->sender->up--;
        drop_waiting(link);
        uw_cancel(link->sender->loop, &link->receive);
        uw_cancel(link->sender->loop, &link->writable);
    }
    settle(link);
}

/* Returns 0, -EAGAIN when there is no room, or why the other gets nothing more. */
static int send_first(struct uw_bus_link *link)
{
    const struct uw_bus_parcel *parcel = link->first->parcel;
    ssize_t sent = uw_send_now(link->fd, parcel->bytes + link->first_sent, parcel->length - link->first_sent, false);

    if (sent < 0)
        return errno == EINTR ? 0 : -errno;
    link->first_sent += (size_t)sent;
    if (link->first_sent == parcel->length)
        take_first(link);
    return 0;
}

static void send_waiting(struct uw_bus_link *link)
{
    int error = 0;

    while (!error && link->first)
        error = send_first(link);
    if (error == -EAGAIN)
        uw_submit(link->sender->loop, &link->writable);
    else if (error)
        end(link);
}

static void became_writable(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_bus_link *link = uw_owner(operation, struct uw_bus_link, writable);

    (void)loop;
    if (link->ended || result < 0)
        end(link);
    else
        send_waiting(link);
}

/* The other has ended it, and has nothing to say here otherwise. */
static void received(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    (void)loop, (void)result;
    end(uw_owner(operation, struct uw_bus_link, receive));
}

bool uw_bus_link_send(struct uw_bus_link *link, struct uw_bus_parcel *parcel, struct uw_bus_waiting *place)
{
    if (parcel->length + PARCEL_BYTES > UW_BUS_PEER_BYTES_MAX - link->waiting_bytes) {
        link->sender->dropped++;
        return false;
    }
    put(link, parcel, place);
    if (!link->writable.pending)
        send_waiting(link);
    return !link->ended;
}

static void greet(struct uw_bus_link *link)
{
    const struct uw_bus_place *place = &link->sender->place;
    const struct uw_bus_frame hello = {
        .flags = UW_BUS_HELLO, .channel = place->name, .channel_length = strlen(place->name)};
    struct uw_bus_parcel *parcel = uw_bus_parcel_new(&hello, 1);

    if (!parcel) {
        end(link);
        return;
    }
    (void)uw_bus_link_send(link, parcel, parcel->places);
    uw_bus_parcel_release(parcel);
}

static void begin(struct uw_bus_link *link, int fd)
{
    link->fd = fd;
    link->ended = false;
    link->sender->up++;
    link->receive = (struct uw_operation){.verb = UW_RECEIVE, .fd = fd, .complete = received};
    link->writable = (struct uw_operation){.verb = UW_POLL, .fd = fd, .length = POLLOUT, .complete = became_writable};
    uw_submit(link->sender->loop, &link->receive);
    greet(link);
}

static void connect_or_forget(struct uw_bus_link *link)
{
    int fd = uw_bus_place_connect(&link->sender->place, link->name);

    if (fd >= 0)
        begin(link, fd);
    else if (fd == -ENOENT || fd == -ECONNREFUSED)
        forget(link);
    else
        connect_later(link);
}

static void retry(struct uw_loop *loop, struct uw_timer *timer)
{
    (void)loop;
    connect_or_forget(uw_owner(timer, struct uw_bus_link, retry));
}

static struct uw_bus_link *find(const struct uw_bus_sender *sender, const char *name)
{
    for (struct uw_list *node = sender->links.next; node != &sender->links; node = node->next)
        if (strcmp(uw_owner(node, struct uw_bus_link, link)->name, name) == 0)
            return uw_owner(node, struct uw_bus_link, link);
    return NULL;
}

static struct uw_bus_link *link_new(struct uw_bus_sender *sender, const char *name)
{
    struct uw_bus_link *link = malloc(sizeof *link);

    if (!link)
        return NULL;
    *link = (struct uw_bus_link){.sender = sender, .fd = -1, .retry.expire = retry, .pause_ns = UW_BUS_PAUSE_NS};
    link->last = &link->first;
    memcpy(link->name, name, strlen(name) + 1);
    uw_list_append(&sender->links, &link->link);
    return link;
}

int uw_bus_link_make(struct uw_bus_sender *sender, const char *name)
{
    struct uw_bus_link *link = find(sender, name);

    if (link)
        return 0; /* or it will be soon */
    link = link_new(sender, name);
    if (!link)
        return -ENOMEM;
    connect_or_forget(link);
    return 0;
}

void uw_bus_link_note_answer(const struct uw_bus_sender *sender, const char *name)
{
    struct uw_bus_link *link = find(sender, name);

    if (!link)
        return;
    link->answered = true;
    link->pause_ns = UW_BUS_PAUSE_NS;
}

void uw_bus_link_discard(struct uw_bus_link *link)
{
    drop_waiting(link);
    if (link->fd >= 0)
        close(link->fd);
    uw_list_remove(&link->link);
    free(link);
}
