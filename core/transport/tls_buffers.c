#include "transport/tls_buffers.h"

#include <stdlib.h>
#include <string.h>

static void free_list(struct uw_tls_buffer *first)
{
    while (first) {
        struct uw_tls_buffer *next = first->next;

        free(first);
        first = next;
    }
}

static void free_buffers(void *loop_data)
{
    struct uw_tls_buffers *buffers = loop_data;

    free_list(buffers->small.first);
    free_list(buffers->large.first);
    uw_tls_handshake_queue_close(&buffers->handshakes);
    free(buffers);
}

struct uw_tls_buffers *uw_tls_buffers_of(struct uw_loop *loop)
{
    struct uw_tls_buffers *buffers = loop->loop_data;

    UW_ASSERT_OWNER(loop);
    if (buffers)
        return buffers;
    buffers = calloc(1, sizeof *buffers);
    if (!buffers)
        return NULL;
    uw_tls_handshake_queue_init(&buffers->handshakes, loop);
    loop->loop_data = buffers;
    loop->free_loop_data = free_buffers;
    return buffers;
}

bool uw_tls_buffers_have_large(const struct uw_tls_buffers *buffers)
{
    return buffers->large.in_use < UW_TLS_BUFFERS_LARGE_MAX;
}

static struct uw_tls_buffer *take_from_pool(struct uw_tls_buffer_pool *pool, size_t capacity)
{
    struct uw_tls_buffer *buffer = pool->first;

    if (buffer) {
        pool->first = buffer->next;
        pool->kept_count--;
    } else {
        buffer = malloc(sizeof *buffer + capacity);
        if (!buffer)
            return NULL;
        buffer->capacity = capacity;
    }
    pool->in_use++;
    buffer->length = 0;
    return buffer;
}

struct uw_tls_buffer *uw_tls_buffer_take(struct uw_tls_buffers *buffers, size_t bytes)
{
    if (bytes <= UW_TLS_BUFFER_SMALL_BYTES)
        return take_from_pool(&buffers->small, UW_TLS_BUFFER_SMALL_BYTES);
    return bytes <= UW_TLS_BUFFER_LARGE_BYTES ? take_from_pool(&buffers->large, UW_TLS_BUFFER_LARGE_BYTES) : NULL;
}

void uw_tls_buffer_return(struct uw_tls_buffers *buffers, struct uw_tls_buffer *buffer)
{
    bool small = buffer->capacity == UW_TLS_BUFFER_SMALL_BYTES;
    struct uw_tls_buffer_pool *pool = small ? &buffers->small : &buffers->large;

    pool->in_use--;
    if (pool->kept_count == (small ? UW_TLS_BUFFERS_SMALL_KEPT : UW_TLS_BUFFERS_LARGE_KEPT)) {
        free(buffer);
        return;
    }
    pool->kept_count++;
    buffer->next = pool->first;
    pool->first = buffer;
}

static bool reserve_bytes(struct uw_tls_buffers *buffers, struct uw_tls_buffer **buffer, size_t length)
{
    struct uw_tls_buffer *before = *buffer, *after;
    size_t filled = before ? before->length : 0;

    if (before && before->capacity - filled >= length)
        return true;
    after = uw_tls_buffer_take(buffers, filled + length);
    if (!after)
        return false;
    if (before) {
        memcpy(after->bytes, before->bytes, filled);
        uw_tls_buffer_return(buffers, before);
    }
    after->length = filled;
    *buffer = after;
    return true;
}

bool uw_tls_buffer_append(struct uw_tls_buffers *buffers, struct uw_tls_buffer **buffer, const char *bytes,
                          size_t length)
{
    if (!reserve_bytes(buffers, buffer, length))
        return false;
    memcpy((*buffer)->bytes + (*buffer)->length, bytes, length);
    (*buffer)->length += length;
    return true;
}

bool uw_tls_buffer_send_now(struct uw_tls_buffers *buffers, struct uw_tls_buffer **buffer, int fd)
{
    struct uw_tls_buffer *leaving = *buffer;
    ssize_t count;

    if (!leaving)
        return true;
    count = uw_send_now(fd, leaving->bytes, leaving->length, false);
    if (count == (ssize_t)leaving->length) {
        uw_tls_buffer_return(buffers, leaving);
        *buffer = NULL;
    } else if (count > 0) {
        leaving->length -= (size_t)count;
        memmove(leaving->bytes, leaving->bytes + count, leaving->length);
    }
    return !*buffer;
}
