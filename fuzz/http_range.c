/* Ranges must lie within the representation and not exceed it together; a multipart body must be as long as announced.
 * The first eight bytes of the input are the size, the rest is the field. */
#include <stdlib.h>
#include <string.h>

#include "http/range.h"

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_ranges(const struct uw_http_ranges *ranges)
{
    int64_t left = ranges->size;

    require(ranges->count >= 0 && ranges->count <= UW_HTTP_RANGES_MAX);
    for (int i = 0; i < ranges->count; i++) {
        const struct uw_http_range *range = &ranges->ranges[i];

        require(range->first >= 0 && range->first < ranges->size);
        require(range->length > 0 && range->length <= ranges->size - range->first);
        require(range->length <= left);
        left -= range->length;
    }
}

static void check_multipart(const struct uw_http_ranges *ranges)
{
    static const uint64_t random[2] = {1, 2};
    char text[UW_HTTP_PART_BYTES_MAX];
    struct uw_http_multipart multipart;
    int64_t length = 0;

    uw_http_multipart_init(&multipart, ranges, "text/plain", random);
    for (int i = 0; i <= ranges->count; i++) {
        size_t part = uw_http_multipart_part(&multipart, i, text);

        require(part < sizeof text && strlen(text) == part);
        length += (int64_t)part + (i < ranges->count ? ranges->ranges[i].length : 0);
    }
    require(length == uw_http_multipart_length(&multipart));
}

static int parse(struct uw_http_ranges *ranges, const uint8_t *data, size_t length, int64_t size)
{
    char *value = malloc(length > 0 ? length : 1); /* its end is the sanitizer's */
    int result;

    if (!value)
        abort();
    memcpy(value, data, length);
    result = uw_http_ranges_parse(ranges, value, length, size);
    free(value);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct uw_http_ranges ranges;
    int64_t representation;
    int result;

    if (size < sizeof representation)
        return 0;
    memcpy(&representation, data, sizeof representation);
    representation &= INT64_MAX >> 1; /* a body of parts has room for their heads */
    result = parse(&ranges, data + sizeof representation, size - sizeof representation, representation);
    require(result == -416 || result == ranges.count);
    require(ranges.size == representation && (result >= 0 || ranges.count == 0));
    check_ranges(&ranges);
    if (ranges.count > 0)
        check_multipart(&ranges);
    return 0;
}
