#include "push/event_stream_request.h"

#include "http/field_cursor.h"
#include "http/quality_value.h"

#define MEDIA_TYPE "text/event-stream"

/* Skips a parameter other than the weight. Returns whether one was there. */
static bool skip_parameter(struct uw_http_cursor *element)
{
    struct uw_http_cursor ahead = *element;

    if (!uw_http_skip_text(&ahead, ";"))
        return false;
    uw_http_skip_space(&ahead);
    if (uw_http_skip_word(&ahead, "q="))
        return false;
    while (ahead.at < ahead.end && *ahead.at != ';' && *ahead.at != ',')
        ahead.at++;
    *element = ahead;
    return true;
}

/* media-range [ weight ] (RFC 9110, section 12.5.1): the weight follows the parameters. */
static bool names_it(struct uw_http_cursor *element)
{
    if (!uw_http_skip_word(element, MEDIA_TYPE) || (!uw_http_end_element(element) && *element->at != ';'))
        return false;
    while (skip_parameter(element))
        ;
    return uw_http_read_weight(element) > 0;
}

static bool accepts(const char *value, size_t length)
{
    struct uw_http_cursor list = uw_http_cursor(value, length);

    for (; uw_http_next_element(&list); uw_http_skip_element(&list))
        if (names_it(&list))
            return true;
    return false;
}

bool uw_event_stream_is_wanted(const struct uw_http_head *head, const char *bytes)
{
    if (head->method != UW_METHOD_GET)
        return false;
    for (uint32_t i = 0; i < head->header_count; i++) {
        const struct uw_http_header *header = uw_http_header(head, i);

        if (header->field == UW_FIELD_ACCEPT && accepts(bytes + header->value.offset, header->value.length))
            return true;
    }
    return false;
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
