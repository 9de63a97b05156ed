#include "event_stream_reader.h"

#include <stdlib.h>
#include <string.h>

#include "load_run.h"

static void take_line(struct peer *peer, const char *line, size_t length)
{
    static const char name[] = "data:";
    size_t start = sizeof name - 1;

    if (length <= start || memcmp(line, name, start) != 0)
        return;
    start += line[start] == ' ';
    peer->kind->received(peer, line + start, length - start);
}

static size_t read_lines(struct peer *peer, const char *bytes, size_t length)
{
    size_t at = 0;
    const char *end;

    while (peer->state == PEER_OPEN && (end = memchr(bytes + at, '\n', length - at))) {
        size_t line = (size_t)(end - bytes) - at;

        take_line(peer, bytes + at, line && end[-1] == '\r' ? line - 1 : line);
        at += line + 1;
    }
    return at;
}

/* A chunk's size; what ends the one before is an empty line. Returns how many bytes that were, or 0. */
static size_t read_chunk_head(struct peer *peer, const char *bytes, size_t length)
{
    const char *end = memchr(bytes, '\n', length);

    if (end && end - bytes > 1 && !(peer->chunk_left = strtoul(bytes, NULL, 16)))
        peer_fail(peer, "the server has ended an event stream");
    return end ? (size_t)(end + 1 - bytes) : 0;
}

static size_t take_chunk(struct peer *peer, const char *bytes, size_t length)
{
    size_t part = length < peer->chunk_left ? length : peer->chunk_left;

    kept_append(&peer->parts, bytes, part);
    peer->chunk_left -= part;
    return part;
}

size_t event_stream_read(struct peer *peer, const char *bytes, size_t length)
{
    size_t at = 0, part;

    if (!peer->chunked)
        return read_lines(peer, bytes, length);
    do {
        part = peer->chunk_left ? take_chunk(peer, bytes + at, length - at)
                                : read_chunk_head(peer, bytes + at, length - at);
        at += part;
    } while (part && at < length && peer->state == PEER_OPEN);
    kept_drop(&peer->parts, read_lines(peer, peer->parts.bytes, peer->parts.length));
    return at;
}
