#include "push/shared_frame.h"

#include <stdlib.h>
#include <string.h>

struct uw_shared_frame {
    struct uw_shared_frame *next;
    const struct uw_push_client_kind *kind;
    bool text;
    int window_bits;
    unsigned references; /* the message's, and one for each chunk that it is lent to */
    struct uw_chunk *chunk;
};

static void release(struct uw_shared_frame *frame)
{
    if (--frame->references > 0)
        return;
    uw_chunk_free(frame->chunk);
    free(frame);
}

/* Makes the frame for the first client; later clients with the same protocol, type and window share it. */
static struct uw_shared_frame *make_frame(const struct uw_shared_message *message, struct uw_push_client *client,
                                          bool text)
{
    struct uw_shared_frame *frame = malloc(sizeof *frame);
    struct uw_chunk *chunk = frame ? client->kind->frame(NULL, text, message->bytes, message->length) : NULL;

    if (!chunk) {
        free(frame);
        return NULL;
    }
    if (client->kind->prepare)
        client->kind->prepare(client, chunk);
    *frame = (struct uw_shared_frame){
        .kind = client->kind, .text = text, .window_bits = client->window_bits, .references = 1, .chunk = chunk};
    return frame;
}

static struct uw_shared_frame *frame_for(struct uw_shared_message *message, struct uw_push_client *client, bool text)
{
    struct uw_shared_frame *frame = message->frames;

    while (frame && !(frame->kind == client->kind && frame->text == text && frame->window_bits == client->window_bits))
        frame = frame->next;
    if (frame)
        return frame;
    frame = make_frame(message, client, text);
    if (frame) {
        frame->next = message->frames;
        message->frames = frame;
    }
    return frame;
}

static void take_back(struct uw_chunk *chunk)
{
    release(chunk->lender);
}

static void copy(struct uw_chunk *chunk, const struct uw_shared_frame *frame)
{
    memcpy(chunk->bytes, frame->chunk->bytes, frame->chunk->length);
    chunk->length = frame->chunk->length;
}

static void lend(struct uw_chunk *chunk, struct uw_shared_frame *frame)
{
    chunk->memory = frame->chunk->bytes;
    chunk->rest_left = (int64_t)frame->chunk->length;
    chunk->release = take_back;
    chunk->lender = frame;
    frame->references++;
}

struct uw_chunk *uw_shared_chunk(struct uw_shared_message *message, struct uw_push_client *client, bool text,
                                 struct uw_slab *slab)
{
    struct uw_shared_frame *frame = frame_for(message, client, text);
    struct uw_chunk *chunk = frame ? uw_slab_alloc(slab) : NULL;

    if (!chunk)
        return NULL;
    *chunk = (struct uw_chunk){.capacity = UW_SHARED_CHUNK_BYTES - sizeof *chunk, .file = -1, .slab = slab};
    if (frame->chunk->length <= chunk->capacity)
        copy(chunk, frame);
    else
        lend(chunk, frame);
    return chunk;
}

void uw_shared_message_end(struct uw_shared_message *message)
{
    struct uw_shared_frame *next;

    for (struct uw_shared_frame *frame = message->frames; frame; frame = next) {
        next = frame->next;
        release(frame);
    }
    message->frames = NULL;
}
