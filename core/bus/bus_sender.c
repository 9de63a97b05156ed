#include "bus/bus_sender.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OVERHEAD_BYTES (sizeof(struct uw_bus_shared_frame) + sizeof(struct uw_bus_queue_entry))

static_assert(UW_BUS_FRAME_BYTES_MAX + OVERHEAD_BYTES <= UW_BUS_PEER_BYTES_MAX, "every frame may wait");

struct uw_bus_shared_frame *uw_bus_shared_frame_new(const struct uw_bus_frame *frame, size_t entries)
{
    size_t length = uw_bus_frame_bytes(frame->channel_length, frame->message_length);
    size_t head = sizeof(struct uw_bus_shared_frame) + entries * sizeof(struct uw_bus_queue_entry);
    struct uw_bus_shared_frame *shared_frame = length ? malloc(head + length) : NULL;
    struct uw_bus_frame written = *frame;

    if (!shared_frame)
        return NULL;
    *shared_frame =
        (struct uw_bus_shared_frame){.references = 1, .length = length, .bytes = (char *)shared_frame + head};
    uw_bus_frame_write(shared_frame->bytes, &written);
    return shared_frame;
}

void uw_bus_shared_frame_release(struct uw_bus_shared_frame *shared_frame)
{
    if (--shared_frame->references == 0)
        free(shared_frame);
}

static void append_to_queue(struct uw_bus_sender *sender, struct uw_bus_shared_frame *shared_frame,
                            struct uw_bus_queue_entry *entry)
{
    *entry = (struct uw_bus_queue_entry){.shared_frame = shared_frame};
    shared_frame->references++;
    *sender->last = entry;
    sender->last = &entry->next;
    sender->waiting_bytes += shared_frame->length + OVERHEAD_BYTES;
}

static void remove_first(struct uw_bus_sender *sender)
{
    struct uw_bus_shared_frame *shared_frame = sender->first->shared_frame;

    sender->first = sender->first->next;
    if (!sender->first)
        sender->last = &sender->first;
    sender->waiting_bytes -= shared_frame->length + OVERHEAD_BYTES;
    sender->first_sent = 0;
    uw_bus_shared_frame_release(shared_frame);
}

static void drop_queue(struct uw_bus_sender *sender)
{
    for (; sender->first; remove_first(sender))
        sender->senders->dropped++;
}

static void free_sender(struct uw_bus_sender *sender)
{
    uw_list_remove(&sender->link);
    uw_timer_stop(sender->senders->loop, &sender->retry);
    free(sender);
}

/* A peer may have closed the connection for lack of memory, and a killed peer may live for a moment. Only a new
 * connection shows whether the peer has exited. */
static void connect_later(struct uw_bus_sender *sender)
{
    uw_timer_start(sender->senders->loop, &sender->retry, uw_clock_ns() + sender->pause_ns);
    if (sender->pause_ns < UW_BUS_PAUSE_MAX_NS)
        sender->pause_ns *= 2; /* a peer that fails repeatedly gets fewer attempts */
}

static void close_when_idle(struct uw_bus_sender *sender)
{
    if (sender->receive.pending || sender->writable.pending)
        return;
    (void)uw_close(sender->senders->loop, sender->fd);
    sender->fd = -1;
    connect_later(sender);
}

static void end_connection(struct uw_bus_sender *sender)
{
    if (!sender->ended) {
        sender->ended = true;
        sender->senders->connected--;
        drop_queue(sender);
        uw_cancel(sender->senders->loop, &sender->receive);
        uw_cancel(sender->senders->loop, &sender->writable);
    }
    close_when_idle(sender);
}

/* Sends the first waiting frame, or a part of it. Returns 0, -EAGAIN if the socket is full, or the -errno that ends the
 * connection. */
static int send_first(struct uw_bus_sender *sender)
{
    const struct uw_bus_shared_frame *shared_frame = sender->first->shared_frame;
    ssize_t sent = uw_send_now(sender->fd, shared_frame->bytes + sender->first_sent,
                               shared_frame->length - sender->first_sent, false);

    if (sent < 0)
        return errno == EINTR ? 0 : -errno;
    sender->first_sent += (size_t)sent;
    if (sender->first_sent == shared_frame->length)
        remove_first(sender);
    return 0;
}

static void send_queue(struct uw_bus_sender *sender)
{
    int error = 0;

    while (!error && sender->first)
        error = send_first(sender);
    if (error == -EAGAIN)
        uw_submit(sender->senders->loop, &sender->writable);
    else if (error)
        end_connection(sender);
}

static void handle_writable(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_bus_sender *sender = uw_container_of(operation, struct uw_bus_sender, writable);

    (void)loop;
    if (sender->ended || result < 0)
        end_connection(sender);
    else
        send_queue(sender);
}

/* The peer has closed the connection: a peer sends no data on it. */
static void handle_end_of_file(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    (void)loop, (void)result;
    end_connection(uw_container_of(operation, struct uw_bus_sender, receive));
}

bool uw_bus_sender_send(struct uw_bus_sender *sender, struct uw_bus_shared_frame *shared_frame,
                        struct uw_bus_queue_entry *entry)
{
    if (shared_frame->length + OVERHEAD_BYTES > UW_BUS_PEER_BYTES_MAX - sender->waiting_bytes) {
        sender->senders->dropped++;
        sender->senders->failed(sender->senders, -ENOBUFS);
        return false;
    }
    append_to_queue(sender, shared_frame, entry);
    if (!sender->writable.pending)
        send_queue(sender);
    return !sender->ended;
}

static void send_greeting(struct uw_bus_sender *sender)
{
    const struct uw_bus_directory *directory = &sender->senders->directory;
    const struct uw_bus_frame hello = {
        .flags = UW_BUS_HELLO, .channel = directory->name, .channel_length = strlen(directory->name)};
    struct uw_bus_shared_frame *shared_frame = uw_bus_shared_frame_new(&hello, 1);

    if (!shared_frame) {
        end_connection(sender);
        return;
    }
    (void)uw_bus_sender_send(sender, shared_frame, shared_frame->entries);
    uw_bus_shared_frame_release(shared_frame);
}

static void begin_connection(struct uw_bus_sender *sender, int fd)
{
    sender->fd = fd;
    sender->ended = false;
    sender->senders->connected++;
    sender->receive = (struct uw_operation){.opcode = UW_RECEIVE, .fd = fd, .complete = handle_end_of_file};
    sender->writable =
        (struct uw_operation){.opcode = UW_POLL, .fd = fd, .length = POLLOUT, .complete = handle_writable};
    uw_submit(sender->senders->loop, &sender->receive);
    send_greeting(sender);
}

static void report_and_retry(struct uw_bus_sender *sender, int error)
{
    sender->senders->failed(sender->senders, error);
    connect_later(sender);
}

static void connect_or_free(struct uw_bus_sender *sender)
{
    int fd = uw_bus_directory_connect(&sender->senders->directory, sender->name);

    if (fd >= 0)
        begin_connection(sender, fd);
    else if (fd == -ENOENT || fd == -ECONNREFUSED)
        free_sender(sender);
    else
        report_and_retry(sender, fd);
}

static void handle_retry(struct uw_loop *loop, struct uw_timer *timer)
{
    (void)loop;
    connect_or_free(uw_container_of(timer, struct uw_bus_sender, retry));
}

static struct uw_bus_sender *find_sender(const struct uw_bus_senders *senders, const char *name)
{
    for (struct uw_list *node = senders->links.next; node != &senders->links; node = node->next)
        if (strcmp(uw_container_of(node, struct uw_bus_sender, link)->name, name) == 0)
            return uw_container_of(node, struct uw_bus_sender, link);
    return NULL;
}

static struct uw_bus_sender *add_sender(struct uw_bus_senders *senders, const char *name)
{
    struct uw_bus_sender *sender = malloc(sizeof *sender);

    if (!sender)
        return NULL;
    *sender =
        (struct uw_bus_sender){.senders = senders, .fd = -1, .retry.expire = handle_retry, .pause_ns = UW_BUS_PAUSE_NS};
    sender->last = &sender->first;
    memcpy(sender->name, name, strlen(name) + 1);
    uw_list_append(&senders->links, &sender->link);
    return sender;
}

int uw_bus_sender_ensure(struct uw_bus_senders *senders, const char *name)
{
    struct uw_bus_sender *sender = find_sender(senders, name);

    if (sender)
        return 0; /* or retries to connect */
    sender = add_sender(senders, name);
    if (!sender)
        return -ENOMEM;
    connect_or_free(sender);
    return 0;
}

void uw_bus_sender_set_answered(const struct uw_bus_senders *senders, const char *name)
{
    struct uw_bus_sender *sender = find_sender(senders, name);

    if (!sender)
        return;
    sender->answered = true;
    sender->pause_ns = UW_BUS_PAUSE_NS;
}

void uw_bus_sender_discard(struct uw_bus_sender *sender)
{
    drop_queue(sender);
    if (sender->fd >= 0)
        close(sender->fd);
    uw_list_remove(&sender->link);
    free(sender);
}
