#include "push/upgrades.h"

#include <string.h>
#include <strings.h>

#include "push/event_stream.h"
#include "push/event_stream_request.h"
#include "websocket/handshake.h"
#include "websocket/websocket.h"

static int accept_websocket(const struct uw_response_writer *writer, struct uw_chunk **chunk,
                            const struct uw_http_head *head, const char *bytes, struct uw_client *client)
{
    struct uw_deflate_terms terms;
    int error = uw_websocket_accept(writer, chunk, head, bytes, &terms);

    if (!error)
        client->window_bits = terms.window_bits;
    return error;
}

static int accept_event_stream(const struct uw_response_writer *writer, struct uw_chunk **chunk,
                               const struct uw_http_head *head, const char *bytes, struct uw_client *client)
{
    (void)head, (void)bytes, (void)client; /* nothing is agreed upon */
    return uw_event_stream_accept(writer, chunk);
}

static const struct uw_upgrade upgrades[] = {
    {"websocket", &uw_client_websocket, 101, uw_websocket_is_wanted, accept_websocket},
    {"sse", &uw_client_event_stream, 200, uw_event_stream_is_wanted, accept_event_stream},
};

const struct uw_upgrade *uw_upgrade_wanted(const struct uw_http_head *head, const char *bytes)
{
    for (size_t i = 0; i < sizeof upgrades / sizeof *upgrades; i++)
        if (upgrades[i].is_wanted(head, bytes))
            return &upgrades[i];
    return NULL;
}

static bool is(const char *name, size_t length, const char *other)
{
    return length == strlen(other) && strncasecmp(name, other, length) == 0;
}

bool uw_upgrade_writes(const char *name, size_t length)
{
    switch (uw_http_field_find(name, length)) {
    case UW_FIELD_CONNECTION:
    case UW_FIELD_CONTENT_ENCODING:
    case UW_FIELD_CONTENT_LENGTH:
    case UW_FIELD_CONTENT_TYPE:
    case UW_FIELD_SEC_WEBSOCKET_EXTENSIONS:
    case UW_FIELD_TRANSFER_ENCODING:
    case UW_FIELD_UPGRADE:
        return true;
    default:
        return is(name, length, "Sec-WebSocket-Accept") || is(name, length, "Keep-Alive") ||
               is(name, length, "Trailer") || is(name, length, "X-Accel-Buffering");
    }
}
