#include "transport/chunk_send.h"

static uint32_t limit_length(uint64_t length, uint32_t most)
{
    return length < most ? (uint32_t)length : most;
}

static struct uw_operation bytes_operation(const char *bytes, uint64_t length)
{
    return (struct uw_operation){
        .opcode = UW_SEND, .data = (char *)bytes, .length = limit_length(length, UW_SEND_BYTES_MAX)};
}

static struct uw_operation file_operation(const struct uw_chunk *chunk)
{
    return (struct uw_operation){.opcode = UW_SEND_FILE,
                                 .file = chunk->file,
                                 .offset = chunk->rest_offset,
                                 .length = limit_length((uint64_t)chunk->rest_left, UW_SEND_FILE_BYTES_MAX)};
}

static bool is_in_memory(const struct uw_chunk *chunk)
{
    return chunk->memory || !chunk->rest_left;
}

struct gathering {
    struct iovec *pieces;
    unsigned count;
    uint32_t left; /* number of bytes that the send may still include */
};

static bool has_space(const struct gathering *gathering)
{
    return gathering->left && gathering->count < UW_SEND_PIECES_MAX;
}

static void gather_bytes(struct gathering *gathering, const char *bytes, uint64_t length)
{
    uint32_t part = limit_length(length, gathering->left);

    if (!part || !has_space(gathering))
        return;
    gathering->pieces[gathering->count++] = (struct iovec){.iov_base = (char *)bytes, .iov_len = part};
    gathering->left -= part;
}

static void gather_chunk(struct gathering *gathering, const struct uw_chunk *chunk)
{
    gather_bytes(gathering, chunk->bytes + chunk->sent, chunk->length - chunk->sent);
    if (chunk->memory)
        gather_bytes(gathering, chunk->memory + chunk->rest_offset, (uint64_t)chunk->rest_left);
}

/* Gathers bytes and lent memory of several chunks, for one system call and few packets. */
static struct uw_operation memory_operation(struct uw_endpoint *endpoint, const struct uw_chunk *first)
{
    struct gathering gathering = {.pieces = endpoint->pieces, .left = UW_SEND_BYTES_MAX};

    for (const struct uw_chunk *chunk = first; chunk && is_in_memory(chunk) && has_space(&gathering);
         chunk = chunk->next)
        gather_chunk(&gathering, chunk);
    if (gathering.count == 1)
        return bytes_operation(endpoint->pieces->iov_base, endpoint->pieces->iov_len);
    endpoint->vector = (struct msghdr){.msg_iov = endpoint->pieces, .msg_iovlen = gathering.count};
    return (struct uw_operation){.opcode = UW_SEND_VECTOR, .data = &endpoint->vector};
}

static struct uw_operation next_operation(struct uw_endpoint *endpoint, const struct uw_chunk *first)
{
    struct uw_operation send;

    if (is_in_memory(first))
        return memory_operation(endpoint, first);
    if (first->sent == first->length)
        return file_operation(first);
    send = bytes_operation(first->bytes + first->sent, first->length - first->sent);
    send.more = true;
    return send;
}

void uw_chunk_prepare_send(struct uw_endpoint *endpoint, const struct uw_chunk *first)
{
    endpoint->send = next_operation(endpoint, first);
    endpoint->send.fd = endpoint->fd;
}
