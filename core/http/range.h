/* Parses range requests and writes multipart/byteranges (RFC 9110, section 14). */
#ifndef UW_HTTP_RANGE_H
#define UW_HTTP_RANGE_H

#include <stddef.h>
#include <stdint.h>

#define UW_HTTP_RANGES_MAX 16 /* a request for more ranges gets the whole representation */
#define UW_HTTP_CONTENT_RANGE_BYTES_MAX 72
#define UW_HTTP_BOUNDARY_BYTES 32
#define UW_HTTP_MEDIA_TYPE_BYTES_MAX 127
#define UW_HTTP_PART_BYTES_MAX \
    (UW_HTTP_BOUNDARY_BYTES + UW_HTTP_MEDIA_TYPE_BYTES_MAX + UW_HTTP_CONTENT_RANGE_BYTES_MAX + 64)

struct uw_http_range {
    int64_t first, length; /* `length` is positive */
};

struct uw_http_ranges {
    int64_t size; /* size of the whole representation */
    int count;
    struct uw_http_range ranges[UW_HTTP_RANGES_MAX]; /* in the order of the request */
};

/* Parses a Range field of a GET for a representation of `size` bytes. Returns the number of satisfiable ranges, which
 * is also `ranges->count`. Returns -416 without a satisfiable range. Returns 0 if the field must be ignored: malformed,
 * another unit, more than UW_HTTP_RANGES_MAX ranges, or more bytes than the representation. Always sets
 * `ranges->size`. */
int uw_http_ranges_parse(struct uw_http_ranges *ranges, const char *value, size_t length, int64_t size);

/* Writes the Content-Range of one range ("bytes 0-99/1234"). With `range` NULL, writes the Content-Range of a 416
 * ("bytes * /1234" without the space). Writes a NUL and returns the length. */
size_t uw_http_content_range(char text[UW_HTTP_CONTENT_RANGE_BYTES_MAX], const struct uw_http_range *range,
                             int64_t size);

/* A multipart/byteranges body consists of part 0, its bytes, part 1, its bytes, and so on. The end boundary is last. */
struct uw_http_multipart {
    const struct uw_http_ranges *ranges;
    const char *type; /* Content-Type of the representation, at most UW_HTTP_MEDIA_TYPE_BYTES_MAX bytes */
    char boundary[UW_HTTP_BOUNDARY_BYTES + 1];
};

/* Makes the boundary of `random`: 128 bits that the author of the file cannot guess. */
void uw_http_multipart_init(struct uw_http_multipart *multipart, const struct uw_http_ranges *ranges, const char *type,
                            const uint64_t random[2]);

/* Writes the text before the bytes of range `index`, or the end boundary for `index` == ranges->count. Returns the
 * length. */
size_t uw_http_multipart_part(const struct uw_http_multipart *multipart, int index, char text[UW_HTTP_PART_BYTES_MAX]);

/* Returns the Content-Length of the whole body. */
int64_t uw_http_multipart_length(const struct uw_http_multipart *multipart);

#endif
