#include "bus/bus_receiver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bus/bus_directory.h"

static void free_receiver(struct uw_bus_receiver *receiver)
{
    uw_list_remove(&receiver->link);
    receiver->receivers->count--;
    free(receiver->partial);
    free(receiver);
}

static void end_connection(struct uw_bus_receiver *receiver)
{
    if (!receiver->ended && receiver->greeted)
        receiver->receivers->greeted--;
    receiver->ended = true;
    uw_cancel(receiver->receivers->loop, &receiver->receive);
    if (receiver->receive.pending)
        return;
    (void)uw_close(receiver->receivers->loop, receiver->receive.fd);
    free_receiver(receiver);
}

static int handle_greeting(struct uw_bus_receiver *receiver, const struct uw_bus_frame *frame)
{
    char name[UW_BUS_NAME_BYTES_MAX + 1] = "";
    int error;

    if (receiver->greeted || !uw_bus_name_is_valid(frame->channel, frame->channel_length))
        return -EPROTO;
    memcpy(name, frame->channel, frame->channel_length);
    error = receiver->receivers->hello(receiver->receivers, name);
    if (error)
        return error;
    receiver->greeted = true;
    receiver->receivers->greeted++;
    return 0;
}

static int deliver_frame(struct uw_bus_receiver *receiver, const struct uw_bus_frame *frame)
{
    if (frame->flags & UW_BUS_HELLO)
        return handle_greeting(receiver, frame);
    if (!receiver->greeted)
        return -EPROTO;
    receiver->receivers->message(receiver->receivers, frame);
    return 0;
}

/* Delivers the frame at the start of `bytes`. Returns its length, or -errno. Returns 0 for an incomplete frame.
 * receiver->wanted is then the frame's length, or the head's length if the head is incomplete. */
static int64_t deliver_first_frame(struct uw_bus_receiver *receiver, const char *bytes, size_t length)
{
    struct uw_bus_frame frame;
    int whole = uw_bus_frame_read(&frame, bytes, length), error = whole > 0 ? deliver_frame(receiver, &frame) : whole;

    receiver->wanted = frame.length;
    if (error)
        return error;
    return whole ? (int64_t)frame.length : 0;
}

/* Allocates memory for `wanted` bytes: first for the head, then for the whole frame. */
static int reserve_wanted(struct uw_bus_receiver *receiver)
{
    char *grown;

    if (receiver->capacity >= receiver->wanted)
        return 0;
    grown = realloc(receiver->partial, receiver->wanted);
    if (!grown)
        return -ENOMEM;
    receiver->partial = grown;
    receiver->capacity = receiver->wanted;
    return 0;
}

/* Appends bytes to the incomplete frame. Returns the number of bytes used, or -ENOMEM. */
static int64_t append_partial(struct uw_bus_receiver *receiver, const char *bytes, size_t length)
{
    size_t missing = receiver->wanted - receiver->partial_length, count = length < missing ? length : missing;

    if (reserve_wanted(receiver))
        return -ENOMEM;
    memcpy(receiver->partial + receiver->partial_length, bytes, count);
    receiver->partial_length += count;
    return (int64_t)count;
}

static void drop_partial(struct uw_bus_receiver *receiver)
{
    free(receiver->partial);
    receiver->partial = NULL;
    receiver->partial_length = receiver->capacity = 0;
}

/* Continues an incomplete frame. Returns the number of bytes used, or -errno. */
static int64_t continue_partial(struct uw_bus_receiver *receiver, const char *bytes, size_t length)
{
    int64_t count = append_partial(receiver, bytes, length), used;

    if (count < 0 || receiver->partial_length < receiver->wanted)
        return count;
    used = deliver_first_frame(receiver, receiver->partial, receiver->partial_length);
    if (used > 0)
        drop_partial(receiver);
    return used < 0 ? used : count;
}

/* A frame that arrives complete is read in place, without a copy. */
static int64_t process_bytes(struct uw_bus_receiver *receiver, const char *bytes, size_t length)
{
    int64_t used = receiver->partial_length ? 0 : deliver_first_frame(receiver, bytes, length);

    return used ? used : continue_partial(receiver, bytes, length);
}

static void handle_received(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_bus_receiver *receiver = uw_container_of(operation, struct uw_bus_receiver, receive);
    const char *bytes = operation->data;
    int64_t used = 1;

    (void)loop;
    for (; result > 0 && used > 0 && !receiver->ended; bytes += used, result -= (int32_t)used)
        used = process_bytes(receiver, bytes, (size_t)result);
    if (!operation->pending || used < 0 || receiver->ended)
        end_connection(receiver);
}

int uw_bus_receiver_open(struct uw_bus_receivers *receivers, int fd)
{
    struct uw_bus_receiver *receiver = receivers->count < UW_BUS_RECEIVERS_MAX ? malloc(sizeof *receiver) : NULL;

    if (!receiver) {
        close(fd);
        return receivers->count < UW_BUS_RECEIVERS_MAX ? -ENOMEM : -EUSERS;
    }
    *receiver = (struct uw_bus_receiver){.receivers = receivers,
                                         .receive = {.opcode = UW_RECEIVE, .fd = fd, .complete = handle_received}};
    receivers->count++;
    uw_list_append(&receivers->connections, &receiver->link);
    uw_submit(receivers->loop, &receiver->receive);
    return 0;
}

void uw_bus_receiver_discard(struct uw_bus_receiver *receiver)
{
    close(receiver->receive.fd);
    free_receiver(receiver);
}
