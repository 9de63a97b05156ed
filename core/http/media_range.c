#include "http/media_range.h"

#include "http/field_cursor.h"
#include "http/quality_value.h"

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
static bool names(struct uw_http_cursor *element, const char *type)
{
    if (!uw_http_skip_word(element, type) || (!uw_http_end_element(element) && *element->at != ';'))
        return false;
    while (skip_parameter(element))
        ;
    return uw_http_read_weight(element) > 0;
}

static bool list_names(const char *value, size_t length, const char *type)
{
    struct uw_http_cursor list = uw_http_cursor(value, length);

    for (; uw_http_next_element(&list); uw_http_skip_element(&list))
        if (names(&list, type))
            return true;
    return false;
}

bool uw_http_names_media_type(const struct uw_http_head *head, const char *bytes, const char *type)
{
    for (uint32_t i = 0; i < head->header_count; i++) {
        const struct uw_http_header *header = uw_http_header(head, i);

        if (header->field == UW_FIELD_ACCEPT && list_names(bytes + header->value.offset, header->value.length, type))
            return true;
    }
    return false;
}
