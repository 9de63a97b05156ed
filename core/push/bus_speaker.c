#include "push/bus_speaker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "push/bus_place.h"

static void let_go(struct uw_bus_speaker *speaker)
{
    uw_list_remove(&speaker->link);
    speaker->hearer->count--;
    free(speaker->kept);
    free(speaker);
}

static void end(struct uw_bus_speaker *speaker)
{
    if (!speaker->ended && speaker->greeted)
        speaker->hearer->greeted--;
    speaker->ended = true;
    uw_cancel(speaker->hearer->loop, &speaker->receive);
    if (speaker->receive.pending)
        return;
    (void)uw_close(speaker->hearer->loop, speaker->receive.fd);
    let_go(speaker);
}

static int greeted(struct uw_bus_speaker *speaker, const struct uw_bus_frame *frame)
{
    char name[UW_BUS_NAME_BYTES_MAX + 1] = "";
    int error;

    if (speaker->greeted || !uw_bus_name_is_valid(frame->channel, frame->channel_length))
        return -EPROTO;
    memcpy(name, frame->channel, frame->channel_length);
    error = speaker->hearer->hello(speaker->hearer, name);
    if (error)
        return error;
    speaker->greeted = true;
    speaker->hearer->greeted++;
    return 0;
}

static int hear(struct uw_bus_speaker *speaker, const struct uw_bus_frame *frame)
{
    if (frame->flags & UW_BUS_HELLO)
        return greeted(speaker, frame);
    if (!speaker->greeted)
        return -EPROTO;
    speaker->hearer->message(speaker->hearer, frame);
    return 0;
}

/* Returns the length of the frame that was heard; 0 when it is not whole, and speaker->wanted is its length as far as
 * that is known; or -errno. */
static int64_t hear_first(struct uw_bus_speaker *speaker, const char *bytes, size_t length)
{
    struct uw_bus_frame frame;
    int whole = uw_bus_frame_read(&frame, bytes, length), error = whole > 0 ? hear(speaker, &frame) : whole;

    speaker->wanted = frame.length;
    if (error)
        return error;
    return whole ? (int64_t)frame.length : 0;
}

/* Room for the frame as far as its length is known: for its head, then for all of it. */
static int make_room(struct uw_bus_speaker *speaker)
{
    char *grown;

    if (speaker->capacity >= speaker->wanted)
        return 0;
    grown = realloc(speaker->kept, speaker->wanted);
    if (!grown)
        return -ENOMEM;
    speaker->kept = grown;
    speaker->capacity = speaker->wanted;
    return 0;
}

/* Returns how many of the bytes are among those that are wanted, or -ENOMEM. */
static int64_t keep(struct uw_bus_speaker *speaker, const char *bytes, size_t length)
{
    size_t missing = speaker->wanted - speaker->kept_length, count = length < missing ? length : missing;

    if (make_room(speaker))
        return -ENOMEM;
    memcpy(speaker->kept + speaker->kept_length, bytes, count);
    speaker->kept_length += count;
    return (int64_t)count;
}

static void drop_kept(struct uw_bus_speaker *speaker)
{
    free(speaker->kept);
    speaker->kept = NULL;
    speaker->kept_length = speaker->capacity = 0;
}

/* Goes on with the frame that has begun. Returns how many of the bytes were used, or -errno. */
static int64_t go_on(struct uw_bus_speaker *speaker, const char *bytes, size_t length)
{
    int64_t count = keep(speaker, bytes, length), heard;

    if (count < 0 || speaker->kept_length < speaker->wanted)
        return count;
    heard = hear_first(speaker, speaker->kept, speaker->kept_length);
    if (heard > 0)
        drop_kept(speaker);
    return heard < 0 ? heard : count;
}

/* A frame that has come whole is heard where it is. */
static int64_t use(struct uw_bus_speaker *speaker, const char *bytes, size_t length)
{
    int64_t heard = speaker->kept_length ? 0 : hear_first(speaker, bytes, length);

    return heard ? heard : go_on(speaker, bytes, length);
}

static void received(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_bus_speaker *speaker = uw_owner(operation, struct uw_bus_speaker, receive);
    const char *bytes = operation->data;
    int64_t used = 1;

    (void)loop;
    for (; result > 0 && used > 0 && !speaker->ended; bytes += used, result -= (int32_t)used)
        used = use(speaker, bytes, (size_t)result);
    if (!operation->pending || used < 0 || speaker->ended)
        end(speaker);
}

void uw_bus_speaker_open(struct uw_bus_hearer *hearer, int fd)
{
    struct uw_bus_speaker *speaker = hearer->count < UW_BUS_SPEAKERS_MAX ? malloc(sizeof *speaker) : NULL;

    if (!speaker) {
        close(fd);
        return;
    }
    *speaker =
        (struct uw_bus_speaker){.hearer = hearer, .receive = {.verb = UW_RECEIVE, .fd = fd, .complete = received}};
    hearer->count++;
    uw_list_append(&hearer->speakers, &speaker->link);
    uw_submit(hearer->loop, &speaker->receive);
}

void uw_bus_speaker_discard(struct uw_bus_speaker *speaker)
{
    close(speaker->receive.fd);
    let_go(speaker);
}
