#include "transport/chunk_send.h"

static uint32_t at_most(uint64_t length, uint32_t most)
{
    return length < most ? (uint32_t)length : most;
}

static struct uw_operation send_bytes(const char *bytes, uint64_t length)
{
    return (struct uw_operation){.verb = UW_SEND, .data = (char *)bytes, .length = at_most(length, UW_SEND_BYTES_MAX)};
}

static struct uw_operation send_file(const struct uw_chunk *chunk)
{
    return (struct uw_operation){.verb = UW_SEND_FILE,
                                 .file = chunk->file,
                                 .offset = chunk->rest_offset,
                                 .length = at_most((uint64_t)chunk->rest_left, UW_SEND_FILE_BYTES_MAX)};
}

/* Bytes and borrowed memory together: one packet, one call. */
static struct uw_operation send_both(struct uw_endpoint *endpoint, const struct uw_chunk *chunk)
{
    uint32_t first = at_most(chunk->length - chunk->sent, UW_SEND_BYTES_MAX);
    uint32_t second = at_most((uint64_t)chunk->rest_left, UW_SEND_BYTES_MAX - first);

    endpoint->pieces[0] = (struct iovec){.iov_base = (char *)chunk->bytes + chunk->sent, .iov_len = first};
    endpoint->pieces[1] = (struct iovec){.iov_base = (char *)chunk->memory + chunk->rest_offset, .iov_len = second};
    endpoint->vector = (struct msghdr){.msg_iov = endpoint->pieces, .msg_iovlen = second ? 2 : 1};
    return (struct uw_operation){.verb = UW_SEND_VECTOR, .data = &endpoint->vector};
}

static struct uw_operation next_send(struct uw_endpoint *endpoint, const struct uw_chunk *chunk)
{
    struct uw_operation send;

    if (chunk->sent == chunk->length)
        return chunk->memory ? send_bytes(chunk->memory + chunk->rest_offset, (uint64_t)chunk->rest_left)
                             : send_file(chunk);
    if (chunk->rest_left && chunk->memory)
        return send_both(endpoint, chunk);
    send = send_bytes(chunk->bytes + chunk->sent, chunk->length - chunk->sent);
    send.more = chunk->rest_left > 0;
    return send;
}

void uw_chunk_prepare_send(struct uw_endpoint *endpoint, const struct uw_chunk *chunk)
{
    endpoint->send = next_send(endpoint, chunk);
    endpoint->send.fd = endpoint->fd;
}
