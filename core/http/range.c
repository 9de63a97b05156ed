#include "http/range.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "http/field_cursor.h"

/* Kinds of a range-spec */
enum spec {
    MALFORMED,
    UNSATISFIABLE,
    SATISFIABLE,
};

/* Reads suffix-range = "-" suffix-length: the last `length` bytes, or all bytes of a shorter representation. */
static enum spec read_suffix(struct uw_http_cursor *cursor, int64_t size, struct uw_http_range *range)
{
    int64_t length;

    if (!uw_http_skip_text(cursor, "-") || !uw_http_read_number(cursor, &length))
        return MALFORMED;
    range->length = length < size ? length : size;
    range->first = size - range->length;
    return length > 0 ? SATISFIABLE : UNSATISFIABLE;
}

/* Reads int-range = first-pos "-" [ last-pos ]. */
static enum spec read_range(struct uw_http_cursor *cursor, int64_t size, struct uw_http_range *range)
{
    int64_t last;

    if (!uw_http_read_number(cursor, &range->first))
        return read_suffix(cursor, size, range);
    if (!uw_http_skip_text(cursor, "-"))
        return MALFORMED;
    if (!uw_http_read_number(cursor, &last))
        last = INT64_MAX;
    if (last < range->first)
        return MALFORMED;
    if (range->first >= size)
        return UNSATISFIABLE;
    range->length = (last < size ? last + 1 : size) - range->first;
    return SATISFIABLE;
}

/* Returns the number of range-specs, including unsatisfiable ones. Returns 0 for a malformed range-spec or too many
 * range-specs. */
static int read_specs(struct uw_http_cursor *cursor, struct uw_http_ranges *ranges)
{
    int specs = 0;

    while (uw_http_next_element(cursor)) {
        struct uw_http_range range;
        enum spec spec = read_range(cursor, ranges->size, &range);

        if (spec == MALFORMED || !uw_http_end_element(cursor) || specs++ == UW_HTTP_RANGES_MAX)
            return 0;
        if (spec == SATISFIABLE)
            ranges->ranges[ranges->count++] = range;
    }
    return specs;
}

/* Returns false for ranges that together exceed the representation. Also returns false for a suffix of an empty
 * representation, which Content-Range cannot express. */
static bool ranges_are_useful(const struct uw_http_ranges *ranges)
{
    int64_t left = ranges->size;

    for (int i = 0; i < ranges->count; i++) {
        if (ranges->ranges[i].length > left || ranges->ranges[i].length == 0)
            return false;
        left -= ranges->ranges[i].length;
    }
    return true;
}

int uw_http_ranges_parse(struct uw_http_ranges *ranges, const char *value, size_t length, int64_t size)
{
    struct uw_http_cursor cursor = uw_http_cursor(value, length);
    int specs = 0;

    ranges->size = size;
    ranges->count = 0;
    if (uw_http_skip_word(&cursor, "bytes="))
        specs = read_specs(&cursor, ranges);
    if (specs > 0 && ranges->count == 0)
        return -416;
    if (specs == 0 || !ranges_are_useful(ranges))
        ranges->count = 0;
    return ranges->count;
}

size_t uw_http_content_range(char text[UW_HTTP_CONTENT_RANGE_BYTES_MAX], const struct uw_http_range *range,
                             int64_t size)
{
    if (!range)
        return (size_t)snprintf(text, UW_HTTP_CONTENT_RANGE_BYTES_MAX, "bytes */%" PRId64, size);
    return (size_t)snprintf(text, UW_HTTP_CONTENT_RANGE_BYTES_MAX, "bytes %" PRId64 "-%" PRId64 "/%" PRId64,
                            range->first, range->first + range->length - 1, size);
}

void uw_http_multipart_init(struct uw_http_multipart *multipart, const struct uw_http_ranges *ranges, const char *type,
                            const uint64_t random[2])
{
    multipart->ranges = ranges;
    multipart->type = type;
    snprintf(multipart->boundary, sizeof multipart->boundary, "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
}

size_t uw_http_multipart_part(const struct uw_http_multipart *multipart, int index, char text[UW_HTTP_PART_BYTES_MAX])
{
    const struct uw_http_ranges *ranges = multipart->ranges;
    char content_range[UW_HTTP_CONTENT_RANGE_BYTES_MAX];

    if (index == ranges->count)
        return (size_t)snprintf(text, UW_HTTP_PART_BYTES_MAX, "\r\n--%s--\r\n", multipart->boundary);
    uw_http_content_range(content_range, &ranges->ranges[index], ranges->size);
    return (size_t)snprintf(text, UW_HTTP_PART_BYTES_MAX, "%s--%s\r\nContent-Type: %.*s\r\nContent-Range: %s\r\n\r\n",
                            index > 0 ? "\r\n" : "", multipart->boundary, UW_HTTP_MEDIA_TYPE_BYTES_MAX, multipart->type,
                            content_range);
}

int64_t uw_http_multipart_length(const struct uw_http_multipart *multipart)
{
    char text[UW_HTTP_PART_BYTES_MAX];
    int count = multipart->ranges->count;
    int64_t length = (int64_t)uw_http_multipart_part(multipart, count, text);

    for (int i = 0; i < count; i++)
        length += (int64_t)uw_http_multipart_part(multipart, i, text) + multipart->ranges->ranges[i].length;
    return length;
}
