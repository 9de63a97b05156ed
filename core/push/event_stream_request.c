#include "push/event_stream_request.h"

#include <string.h>

#include "http/media_range.h"

#define MEDIA_TYPE "text/event-stream"

bool uw_event_stream_is_wanted(const struct uw_http_head *head, const char *bytes)
{
    return head->method == UW_METHOD_GET && uw_http_names_media_type(head, bytes, MEDIA_TYPE);
}

/* Names and values; the last keeps a proxy from gathering events before it passes them on. */
static const char *const fields[][2] = {
    {"Content-Type", MEDIA_TYPE},
    {"Cache-Control", "no-cache"},
    {"X-Accel-Buffering", "no"},
};

int uw_event_stream_accept(const struct uw_response_writer *writer, struct uw_chunk **chunk)
{
    int error = 0;

    for (size_t i = 0; i < sizeof fields / sizeof *fields && !error; i++)
        error = writer->field(chunk, fields[i][0], strlen(fields[i][0]), fields[i][1], strlen(fields[i][1]));
    return error;
}
