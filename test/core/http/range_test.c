#include "http/range.h"

#include "check.h"
#include "guard_page.h"

static struct uw_http_ranges ranges;

static int parse(const char *value, int64_t size)
{
    return uw_http_ranges_parse(&ranges, guard_copy(value, strlen(value)), strlen(value), size);
}

/* Whether range `i` has the bytes `first` to `last`. */
static void check_range(int i, int64_t first, int64_t last)
{
    CHECK(i < ranges.count);
    CHECK_EQUAL(first, ranges.ranges[i].first);
    CHECK_EQUAL(last - first + 1, ranges.ranges[i].length);
}

static void check_single(const char *value, int64_t size, int64_t first, int64_t last)
{
    CHECK_EQUAL(1, parse(value, size));
    check_range(0, first, last);
}

TEST(single)
{
    check_single("bytes=0-0", 10, 0, 0);
    check_single("bytes=0-9", 10, 0, 9);
    check_single("bytes=2-5", 10, 2, 5);
    check_single("bytes=9-9", 10, 9, 9);
    check_single("bytes=3-", 10, 3, 9);
    check_single("bytes=3-10", 10, 3, 9);
    check_single("bytes=0-99999999999999999999999", 10, 0, 9);
    check_single("BYTES=1-2", 10, 1, 2);
    check_single("bytes= 1-2 ", 10, 1, 2);
    check_single("bytes=,1-2,,", 10, 1, 2);
    check_single("bytes=001-002", 10, 1, 2);
    check_single("bytes=9223372036854775805-", INT64_MAX, INT64_MAX - 2, INT64_MAX - 1);
    check_single("bytes=0-", INT64_MAX, 0, INT64_MAX - 1);
}

TEST(suffix)
{
    check_single("bytes=-1", 10, 9, 9);
    check_single("bytes=-10", 10, 0, 9);
    check_single("bytes=-11", 10, 0, 9);
    check_single("bytes=-99999999999999999999999", 10, 0, 9);
}

TEST(multiple)
{
    CHECK_EQUAL(3, parse("bytes=0-1, 4-5,\t-2", 10));
    check_range(0, 0, 1);
    check_range(1, 4, 5);
    check_range(2, 8, 9);
    CHECK_EQUAL(2, parse("bytes=5-6,0-1", 10));
    check_range(0, 5, 6);
    check_range(1, 0, 1);
}

TEST(what_cannot_be_satisfied_is_left_out)
{
    check_single("bytes=10-20,1-2,-0", 10, 1, 2);
}

TEST(unsatisfiable)
{
    CHECK_EQUAL(-416, parse("bytes=10-", 10));
    CHECK_EQUAL(-416, parse("bytes=10-10", 10));
    CHECK_EQUAL(-416, parse("bytes=99999999999999999999-", 10));
    CHECK_EQUAL(-416, parse("bytes=99999999999999999999-", INT64_MAX));
    CHECK_EQUAL(-416, parse("bytes=-0", 10));
    CHECK_EQUAL(-416, parse("bytes=10-,20-30", 10));
    CHECK_EQUAL(-416, parse("bytes=0-", 0));
    CHECK_EQUAL(-416, parse("bytes=0-0", 0));
    CHECK_EQUAL(10, (parse("bytes=10-", 10), ranges.size));
}

TEST(the_end_of_an_empty_file_is_the_whole)
{
    CHECK_EQUAL(0, parse("bytes=-5", 0));
}

TEST(malformed_fields_are_ignored)
{
    static const char *const values[] = {
        "",
        "bytes",
        "bytes=",
        "bytes=,",
        "bytes=-",
        "bytes=a-b",
        "bytes=1",
        "bytes=2-1",
        "bytes=1-2-3",
        "bytes=1-2;",
        "bytes=1 -2",
        "bytes=1- 2",
        "bytes=+1-2",
        "bytes=--1",
        "bytes 1-2",
        "bytes =1-2",
        "bytes:1-2",
        "items=0-1",
        "byte=0-1",
        "bytess=0-1",
        "0-1",
        "bytes=0x1-",
        "bytes=1-2,a",
        "bytes=1-2 3-4",
        "bytes=1.0-2",
        "bytes=1-2,5-4",
        "bytes=1-2,bytes=3-4",
        "bytes=*",
        "bytes=99999999999999999999-1",
    };

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        int result = parse(values[i], 10);

        if (result != 0 || ranges.count != 0) {
            check_failures++;
            printf("%s: expected to be ignored, got %d\n", values[i], result);
        }
    }
}

static int parse_many(int count, int64_t size)
{
    char value[1000];
    int length = snprintf(value, sizeof value, "bytes=0-0");

    for (int i = 1; i < count; i++)
        length += snprintf(value + length, sizeof value - (size_t)length, ",%d-%d", 2 * i, 2 * i);
    return uw_http_ranges_parse(&ranges, value, (size_t)length, size);
}

TEST(too_many_ranges_are_ignored)
{
    CHECK_EQUAL(UW_HTTP_RANGES_MAX, parse_many(UW_HTTP_RANGES_MAX, 1000));
    CHECK_EQUAL(0, parse_many(UW_HTTP_RANGES_MAX + 1, 1000));
    CHECK_EQUAL(0, parse_many(UW_HTTP_RANGES_MAX + 1, 1));
}

TEST(ranges_that_exceed_the_whole_together_are_ignored)
{
    CHECK_EQUAL(2, parse("bytes=0-4,5-9", 10));
    CHECK_EQUAL(2, parse("bytes=0-4,0-4", 10));
    CHECK_EQUAL(0, parse("bytes=0-4,0-5", 10));
    CHECK_EQUAL(0, parse("bytes=0-,0-,0-", 10));
    CHECK_EQUAL(0, parse("bytes=0-,1-,2-,3-", INT64_MAX));
}

TEST(content_range)
{
    char text[UW_HTTP_CONTENT_RANGE_BYTES_MAX];
    struct uw_http_range all = {INT64_MAX - 1, 1};

    CHECK_EQUAL(15, uw_http_content_range(text, &(struct uw_http_range){0, 100}, 1234));
    CHECK(strcmp(text, "bytes 0-99/1234") == 0);
    CHECK_EQUAL(12, uw_http_content_range(text, NULL, 1234));
    CHECK(strcmp(text, "bytes */1234") == 0);
    CHECK_EQUAL(6 + 3 * 19 + 2, uw_http_content_range(text, &all, INT64_MAX));
}

/* The body as it would be sent, of a file whose bytes are the digits. */
static size_t build(const struct uw_http_multipart *multipart, char *body)
{
    static const char digits[] = "0123456789";
    size_t length = 0;

    for (int i = 0; i <= multipart->ranges->count; i++) {
        const struct uw_http_range *range = &multipart->ranges->ranges[i];

        length += uw_http_multipart_part(multipart, i, body + length);
        if (i == multipart->ranges->count)
            break;
        memcpy(body + length, digits + range->first, (size_t)range->length);
        length += (size_t)range->length;
    }
    return length;
}

TEST(multipart)
{
    struct uw_http_multipart multipart;
    char body[4096];
    static const char expected[] = "--00000000000000010000000000000abc\r\n"
                                   "Content-Type: text/plain; charset=utf-8\r\n"
                                   "Content-Range: bytes 0-1/10\r\n\r\n"
                                   "01\r\n"
                                   "--00000000000000010000000000000abc\r\n"
                                   "Content-Type: text/plain; charset=utf-8\r\n"
                                   "Content-Range: bytes 8-9/10\r\n\r\n"
                                   "89\r\n"
                                   "--00000000000000010000000000000abc--\r\n";

    CHECK_EQUAL(2, parse("bytes=0-1,-2", 10));
    uw_http_multipart_init(&multipart, &ranges, "text/plain; charset=utf-8", (uint64_t[2]){1, 0xabc});
    CHECK_EQUAL(sizeof expected - 1, build(&multipart, body));
    CHECK(memcmp(body, expected, sizeof expected - 1) == 0);
    CHECK_EQUAL(sizeof expected - 1, uw_http_multipart_length(&multipart));
}

TEST(the_longest_part_fits)
{
    struct uw_http_multipart multipart;
    char text[UW_HTTP_PART_BYTES_MAX], type[2 * UW_HTTP_MEDIA_TYPE_BYTES_MAX];

    memset(type, 'a', sizeof type);
    type[sizeof type - 1] = '\0';
    ranges = (struct uw_http_ranges){.size = INT64_MAX, .count = 2};
    ranges.ranges[1] = (struct uw_http_range){INT64_MAX - 1, 1};
    uw_http_multipart_init(&multipart, &ranges, type, (uint64_t[2]){UINT64_MAX, UINT64_MAX});
    CHECK(uw_http_multipart_part(&multipart, 1, text) < sizeof text);
    CHECK(strcmp(text + strlen(text) - 4, "\r\n\r\n") == 0);
}

TEST_MAIN
