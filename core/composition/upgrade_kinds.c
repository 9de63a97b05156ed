#include "composition/upgrade_kinds.h"

#include <string.h>
#include <strings.h>

#include "push/event_stream.h"
#include "websocket/websocket_protocol.h"

static const struct uw_upgrade_kind *const kinds[] = {
    &uw_upgrade_websocket,
    &uw_upgrade_event_stream,
};

const struct uw_upgrade_kind *uw_upgrade_wanted(const struct uw_http_head *head, const char *bytes)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i]->is_wanted(head, bytes))
            return kinds[i];
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
