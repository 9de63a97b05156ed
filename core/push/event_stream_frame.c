#include "push/event_stream_frame.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DATA "data: "
#define NAME "event: "
#define ID "id: "
#define RETRY_BYTES_MAX (sizeof "retry: 9223372036854775807\n")

bool uw_event_stream_is_line(const char *bytes, size_t length)
{
    return !memchr(bytes, '\r', length) && !memchr(bytes, '\n', length) && !memchr(bytes, '\0', length);
}

/* Finds the end of a line: CR, LF, CR LF, or `end`. Returns the start of the next line, or NULL. */
static const char *next_line(const char *line, const char *end, size_t *length)
{
    const char *at = line;

    while (at < end && *at != '\n' && *at != '\r')
        at++;
    *length = (size_t)(at - line);
    if (at == end)
        return NULL;
    return at + 1 < end && at[0] == '\r' && at[1] == '\n' ? at + 2 : at + 1;
}

/* A line's worth at most. */
static size_t line_bytes(const char *field, size_t length)
{
    return strlen(field) + length + 1;
}

static size_t data_bytes(const struct uw_sent_event *event)
{
    const char *line = event->data, *end = line + event->data_length;
    size_t total = 0, length;

    while (line) {
        line = next_line(line, end, &length);
        total += line_bytes(DATA, length);
    }
    return total;
}

static size_t bytes_of(const struct uw_sent_event *event)
{
    return (event->name ? line_bytes(NAME, event->name_length) : 0) +
           (event->id ? line_bytes(ID, event->id_length) : 0) + RETRY_BYTES_MAX +
           (event->data ? data_bytes(event) : 0) + 1;
}

static char *put(char *at, const char *bytes, size_t length)
{
    memcpy(at, bytes, length);
    return at + length;
}

static char *put_line(char *at, const char *field, const char *value, size_t length)
{
    at = put(put(at, field, strlen(field)), value, length);
    *at = '\n';
    return at + 1;
}

static char *put_data(char *at, const struct uw_sent_event *event)
{
    const char *line = event->data, *end = line + event->data_length;

    while (line) {
        size_t length;
        const char *next = next_line(line, end, &length);

        at = put_line(at, DATA, line, length);
        line = next;
    }
    return at;
}

static char *put_event(char *at, const struct uw_sent_event *event)
{
    if (event->name)
        at = put_line(at, NAME, event->name, event->name_length);
    if (event->id)
        at = put_line(at, ID, event->id, event->id_length);
    if (event->retry_ms >= 0)
        at += snprintf(at, RETRY_BYTES_MAX, "retry: %" PRId64 "\n", event->retry_ms);
    if (event->data)
        at = put_data(at, event);
    *at = '\n';
    return at + 1;
}

struct uw_chunk *uw_event_stream_frame(struct uw_slab *slab, const struct uw_sent_event *event)
{
    size_t most = bytes_of(event);
    struct uw_chunk *chunk = slab && most <= UW_CHUNK_SLAB_CAPACITY ? uw_chunk_take(slab) : uw_chunk_new(most);

    if (!chunk)
        return NULL;
    chunk->length = (size_t)(put_event(chunk->bytes, event) - chunk->bytes);
    assert(chunk->length <= chunk->capacity);
    return chunk;
}
