#include "bus/bus_sender.h"

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
    *parcel = (struct uw_bus_parcel){.references = 1, .length = length, .bytes = (char *)parcel + head};
    uw_bus_frame_write(parcel->bytes, &written);
    return parcel;
}

void uw_bus_parcel_release(struct uw_bus_parcel *parcel)
{
    if (--parcel->references == 0)
        free(parcel);
}

static void put(struct uw_bus_sender *sender, struct uw_bus_parcel *parcel, struct uw_bus_waiting *place)
{
    *place = (struct uw_bus_waiting){.parcel = parcel};
    parcel->references++;
    *sender->last = place;
    sender->last = &place->next;
    sender->waiting_bytes += parcel->length + PARCEL_BYTES;
}

static void take_first(struct uw_bus_sender *sender)
{
    struct uw_bus_parcel *parcel = sender->first->parcel;

    sender->first = sender->first->next;
    if (!sender->first)
        sender->last = &sender->first;
    sender->waiting_bytes -= parcel->length + PARCEL_BYTES;
    sender->first_sent = 0;
    uw_bus_parcel_release(parcel);
}

static void drop_waiting(struct uw_bus_sender *sender)
{
    for (; sender->first; take_first(sender))
        sender->senders->dropped++;
}

static void forget(struct uw_bus_sender *sender)
{
    uw_list_remove(&sender->link);
    uw_timer_stop(sender->senders->loop, &sender->retry);
    free(sender);
}

/* A peer that ran out of memory still lives, and a killed peer may live for a moment. Only a new connection shows
 * whether the peer is gone. */
static void connect_later(struct uw_bus_sender *sender)
{
    uw_timer_start(sender->senders->loop, &sender->retry, uw_clock_ns() + sender->pause_ns);
    if (sender->pause_ns < UW_BUS_PAUSE_MAX_NS)
        sender->pause_ns *= 2; /* a peer that refuses again and again gets fewer attempts */
}

static void settle(struct uw_bus_sender *sender)
{
    if (sender->receive.pending || sender->writable.pending)
        return;
    (void)uw_close(sender->senders->loop, sender->fd);
    sender->fd = -1;
    connect_later(sender);
}

static void end(struct uw_bus_sender *sender)
{
    if (!sender->ended) {
        sender->ended = true;
        sender->senders->up--;
        drop_waiting(sender);
        uw_cancel(sender->senders->loop, &sender->receive);
        uw_cancel(sender->senders->loop, &sender->writable);
    }
    settle(sender);
}

/* Returns 0; -EAGAIN when the socket is full; or the -errno that ends the connection. */
static int send_first(struct uw_bus_sender *sender)
{
    const struct uw_bus_parcel *parcel = sender->first->parcel;
    ssize_t sent =
        uw_send_now(sender->fd, parcel->bytes + sender->first_sent, parcel->length - sender->first_sent, false);

    if (sent < 0)
        return errno == EINTR ? 0 : -errno;
    sender->first_sent += (size_t)sent;
    if (sender->first_sent == parcel->length)
        take_first(sender);
    return 0;
}

static void send_waiting(struct uw_bus_sender *sender)
{
    int error = 0;

    while (!error && sender->first)
        error = send_first(sender);
    if (error == -EAGAIN)
        uw_submit(sender->senders->loop, &sender->writable);
    else if (error)
        end(sender);
}

static void became_writable(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_bus_sender *sender = uw_container_of(operation, struct uw_bus_sender, writable);

    (void)loop;
    if (sender->ended || result < 0)
        end(sender);
    else
        send_waiting(sender);
}

/* The peer has closed the connection. A peer sends nothing else here. */
static void received(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    (void)loop, (void)result;
    end(uw_container_of(operation, struct uw_bus_sender, receive));
}

bool uw_bus_sender_send(struct uw_bus_sender *sender, struct uw_bus_parcel *parcel, struct uw_bus_waiting *place)
{
    if (parcel->length + PARCEL_BYTES > UW_BUS_PEER_BYTES_MAX - sender->waiting_bytes) {
        sender->senders->dropped++;
        sender->senders->failed(sender->senders, -ENOBUFS);
        return false;
    }
    put(sender, parcel, place);
    if (!sender->writable.pending)
        send_waiting(sender);
    return !sender->ended;
}

static void greet(struct uw_bus_sender *sender)
{
    const struct uw_bus_directory *directory = &sender->senders->directory;
    const struct uw_bus_frame hello = {
        .flags = UW_BUS_HELLO, .channel = directory->name, .channel_length = strlen(directory->name)};
    struct uw_bus_parcel *parcel = uw_bus_parcel_new(&hello, 1);

    if (!parcel) {
        end(sender);
        return;
    }
    (void)uw_bus_sender_send(sender, parcel, parcel->places);
    uw_bus_parcel_release(parcel);
}

static void begin(struct uw_bus_sender *sender, int fd)
{
    sender->fd = fd;
    sender->ended = false;
    sender->senders->up++;
    sender->receive = (struct uw_operation){.opcode = UW_RECEIVE, .fd = fd, .complete = received};
    sender->writable =
        (struct uw_operation){.opcode = UW_POLL, .fd = fd, .length = POLLOUT, .complete = became_writable};
    uw_submit(sender->senders->loop, &sender->receive);
    greet(sender);
}

static void fail(struct uw_bus_sender *sender, int error)
{
    sender->senders->failed(sender->senders, error);
    connect_later(sender);
}

static void connect_or_forget(struct uw_bus_sender *sender)
{
    int fd = uw_bus_directory_connect(&sender->senders->directory, sender->name);

    if (fd >= 0)
        begin(sender, fd);
    else if (fd == -ENOENT || fd == -ECONNREFUSED)
        forget(sender);
    else
        fail(sender, fd);
}

static void retry(struct uw_loop *loop, struct uw_timer *timer)
{
    (void)loop;
    connect_or_forget(uw_container_of(timer, struct uw_bus_sender, retry));
}

static struct uw_bus_sender *find(const struct uw_bus_senders *senders, const char *name)
{
    for (struct uw_list *node = senders->links.next; node != &senders->links; node = node->next)
        if (strcmp(uw_container_of(node, struct uw_bus_sender, link)->name, name) == 0)
            return uw_container_of(node, struct uw_bus_sender, link);
    return NULL;
}

static struct uw_bus_sender *sender_new(struct uw_bus_senders *senders, const char *name)
{
    struct uw_bus_sender *sender = malloc(sizeof *sender);

    if (!sender)
        return NULL;
    *sender = (struct uw_bus_sender){.senders = senders, .fd = -1, .retry.expire = retry, .pause_ns = UW_BUS_PAUSE_NS};
    sender->last = &sender->first;
    memcpy(sender->name, name, strlen(name) + 1);
    uw_list_append(&senders->links, &sender->link);
    return sender;
}

int uw_bus_sender_make(struct uw_bus_senders *senders, const char *name)
{
    struct uw_bus_sender *sender = find(senders, name);

    if (sender)
        return 0; /* or it will be soon */
    sender = sender_new(senders, name);
    if (!sender)
        return -ENOMEM;
    connect_or_forget(sender);
    return 0;
}

void uw_bus_sender_note_answer(const struct uw_bus_senders *senders, const char *name)
{
    struct uw_bus_sender *sender = find(senders, name);

    if (!sender)
        return;
    sender->answered = true;
    sender->pause_ns = UW_BUS_PAUSE_NS;
}

void uw_bus_sender_discard(struct uw_bus_sender *sender)
{
    drop_waiting(sender);
    if (sender->fd >= 0)
        close(sender->fd);
    uw_list_remove(&sender->link);
    free(sender);
}
