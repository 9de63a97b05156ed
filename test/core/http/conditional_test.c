#include "http/conditional.h"
#include "http1/parser.h"

#include "check.h"
#include "guard_page.h"

#include "http/date.h"

#define MODIFIED 784111777
#define DATE "Sun, 06 Nov 1994 08:49:37 GMT"
#define BEFORE "Sun, 06 Nov 1994 08:49:36 GMT"
#define AFTER "Sun, 06 Nov 1994 08:49:38 GMT"
#define ETAG "\"a-b-c\""

static const struct uw_http_limits limits = {8192, 4096, UW_HTTP_HEADERS_INLINE};
static struct uw_http_validators validators = {
    .etag = ETAG, .etag_length = sizeof ETAG - 1, .dated = true, .modified = MODIFIED};
static struct uw_http_head head;
static const char *bytes;

static void parse(const char *fields)
{
    char text[4096];
    int length = snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n%s\r\n", fields);

    bytes = guard_copy(text, (size_t)length);
    uw_http_head_init(&head, &limits);
    CHECK_EQUAL(length, uw_http_parse(&head, bytes, (size_t)length));
}

static int precondition(const char *fields)
{
    parse(fields);
    return uw_http_precondition(&head, bytes, &validators);
}

static bool if_range(const char *value)
{
    char field[1000];

    snprintf(field, sizeof field, "If-Range: %s\r\n", value);
    parse(field);
    return uw_http_if_range(&head, bytes, &validators);
}

TEST(unconditional)
{
    CHECK_EQUAL(0, precondition(""));
    CHECK(uw_http_if_range(&head, bytes, &validators));
}

TEST(if_none_match)
{
    CHECK_EQUAL(304, precondition("If-None-Match: " ETAG "\r\n"));
    CHECK_EQUAL(304, precondition("If-None-Match: W/" ETAG "\r\n"));
    CHECK_EQUAL(304, precondition("If-None-Match: \"x\", W/\"y\" ,\"\"," ETAG "\r\n"));
    CHECK_EQUAL(304, precondition("If-None-Match: \"x,y\"," ETAG ",\"z\"\r\n"));
    CHECK_EQUAL(304, precondition("If-None-Match: ,, " ETAG " ,\r\n"));
    CHECK_EQUAL(304, precondition("If-None-Match: *\r\n"));
    CHECK_EQUAL(304, precondition("If-None-Match: \"x\"\r\nif-none-match: " ETAG "\r\n"));
    CHECK_EQUAL(304, precondition("If-None-Match: " ETAG "\r\nIf-None-Match: \"x\"\r\n"));
    CHECK_EQUAL(0, precondition("If-None-Match: \"x\"\r\n"));
    CHECK_EQUAL(0, precondition("If-None-Match: \"A-B-C\"\r\n"));
    CHECK_EQUAL(0, precondition("If-None-Match:\r\n"));
}

TEST(malformed_tags_match_nothing)
{
    CHECK_EQUAL(0, precondition("If-None-Match: a-b-c\r\n"));
    CHECK_EQUAL(0, precondition("If-None-Match: \"a-b-c\r\n"));
    CHECK_EQUAL(0, precondition("If-None-Match: \"\r\n"));
    CHECK_EQUAL(0, precondition("If-None-Match: w/" ETAG "\r\n"));
    CHECK_EQUAL(0, precondition("If-None-Match: W/ " ETAG "\r\n"));
    CHECK_EQUAL(0, precondition("If-None-Match: " ETAG "x\r\n"));
    CHECK_EQUAL(0, precondition("If-None-Match: x, " ETAG "\r\n"));
    CHECK_EQUAL(0, precondition("If-None-Match: \"x\" " ETAG "\r\n"));
    CHECK_EQUAL(0, precondition("If-None-Match: *, " ETAG "\r\n"));
    CHECK_EQUAL(0, precondition("If-None-Match: **\r\n"));
    CHECK_EQUAL(412, precondition("If-Match: a-b-c\r\n"));
}

TEST(if_match)
{
    CHECK_EQUAL(0, precondition("If-Match: " ETAG "\r\n"));
    CHECK_EQUAL(0, precondition("If-Match: \"x\", " ETAG "\r\n"));
    CHECK_EQUAL(0, precondition("If-Match: *\r\n"));
    CHECK_EQUAL(0, precondition("If-Match: \"x\"\r\nIf-Match: " ETAG "\r\n"));
    CHECK_EQUAL(412, precondition("If-Match: \"x\"\r\n"));
    CHECK_EQUAL(412, precondition("If-Match: W/" ETAG "\r\n"));
    CHECK_EQUAL(412, precondition("If-Match:\r\n"));
}

TEST(if_modified_since)
{
    CHECK_EQUAL(304, precondition("If-Modified-Since: " DATE "\r\n"));
    CHECK_EQUAL(0, precondition("If-Modified-Since: " AFTER "\r\n")); /* an older file may have come back */
    CHECK_EQUAL(304, precondition("If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT\r\n"));
    CHECK_EQUAL(304, precondition("If-Modified-Since: Sun Nov  6 08:49:37 1994\r\n"));
    CHECK_EQUAL(0, precondition("If-Modified-Since: " BEFORE "\r\n"));
    CHECK_EQUAL(0, precondition("If-Modified-Since: yesterday\r\n"));
    CHECK_EQUAL(0, precondition("If-Modified-Since: " DATE "\r\nIf-Modified-Since: " DATE "\r\n"));
}

TEST(if_unmodified_since)
{
    CHECK_EQUAL(0, precondition("If-Unmodified-Since: " DATE "\r\n"));
    CHECK_EQUAL(0, precondition("If-Unmodified-Since: " AFTER "\r\n"));
    CHECK_EQUAL(412, precondition("If-Unmodified-Since: " BEFORE "\r\n"));
    CHECK_EQUAL(0, precondition("If-Unmodified-Since: yesterday\r\n"));
}

TEST(tags_go_before_dates)
{
    CHECK_EQUAL(0, precondition("If-Modified-Since: " AFTER "\r\nIf-None-Match: \"x\"\r\n"));
    CHECK_EQUAL(304, precondition("If-Modified-Since: " BEFORE "\r\nIf-None-Match: " ETAG "\r\n"));
    CHECK_EQUAL(0, precondition("If-Unmodified-Since: " BEFORE "\r\nIf-Match: " ETAG "\r\n"));
    CHECK_EQUAL(412, precondition("If-Unmodified-Since: " AFTER "\r\nIf-Match: \"x\"\r\n"));
}

TEST(what_must_hold_goes_before_what_must_not)
{
    CHECK_EQUAL(412, precondition("If-None-Match: " ETAG "\r\nIf-Match: \"x\"\r\n"));
    CHECK_EQUAL(412, precondition("If-None-Match: " ETAG "\r\nIf-Unmodified-Since: " BEFORE "\r\n"));
    CHECK_EQUAL(304, precondition("If-None-Match: " ETAG "\r\nIf-Match: " ETAG "\r\n"));
    CHECK_EQUAL(304, precondition("If-Modified-Since: " DATE "\r\nIf-Unmodified-Since: " DATE "\r\n"));
}

TEST(ranges)
{
    CHECK(if_range(ETAG));
    CHECK(if_range(DATE));
    CHECK(!if_range("W/" ETAG));
    CHECK(!if_range("\"x\""));
    CHECK(!if_range("*"));
    CHECK(!if_range(ETAG ", \"x\""));
    CHECK(!if_range(BEFORE));
    CHECK(!if_range(AFTER));
    CHECK(!if_range(""));
    CHECK(!if_range(ETAG "\r\nIf-Range: " ETAG));
}

static const char *etag(bool weak, uint64_t hash, uint64_t size, enum uw_http_coding coding)
{
    static struct uw_http_validators made[2];
    static int next;

    next = !next;
    uw_http_validators_make(&made[next], weak, hash, size, 3, coding);
    CHECK_EQUAL(strlen(made[next].etag), made[next].etag_length);
    CHECK_EQUAL(weak, made[next].weak);
    CHECK_EQUAL(3, made[next].modified);
    return made[next].etag;
}

TEST(the_tag_tells_contents_and_codings_apart)
{
    CHECK(strcmp(etag(false, 0xab, 0x2f, UW_CODING_IDENTITY), "\"2f-00000000000000ab\"") == 0);
    CHECK(strcmp(etag(true, 0xab, 0x2f, UW_CODING_IDENTITY), "W/\"2f-00000000000000ab\"") == 0);
    CHECK(strcmp(etag(false, 1, 2, UW_CODING_IDENTITY), etag(false, 2, 2, UW_CODING_IDENTITY)) != 0);
    CHECK(strcmp(etag(false, 1, 2, UW_CODING_IDENTITY), etag(false, 1, 3, UW_CODING_IDENTITY)) != 0);
    for (enum uw_http_coding a = 0; a < UW_CODING_COUNT; a++)
        for (enum uw_http_coding b = 0; b < UW_CODING_COUNT; b++)
            CHECK_EQUAL(a == b, strcmp(etag(false, 1, 2, a), etag(false, 1, 2, b)) == 0);
}

TEST(the_longest_tag_fits)
{
    CHECK_EQUAL(2 + 2 + 16 + 1 + 16 + 5, strlen(etag(true, UINT64_MAX, UINT64_MAX, UW_CODING_ZSTD)));
}

TEST(a_weak_tag_is_enough_for_not_modified_alone)
{
    const struct uw_http_validators strong = validators;

    validators.weak = true;
    validators.etag_length = (uint32_t)snprintf(validators.etag, sizeof validators.etag, "W/%s", ETAG);
    CHECK_EQUAL(304, precondition("If-None-Match: W/" ETAG "\r\n"));
    CHECK_EQUAL(304, precondition("If-None-Match: " ETAG "\r\n"));
    CHECK_EQUAL(304, precondition("If-None-Match: \"x\", W/" ETAG "\r\n"));
    CHECK_EQUAL(0, precondition("If-None-Match: \"x\"\r\n"));
    CHECK_EQUAL(412, precondition("If-Match: W/" ETAG "\r\n"));
    CHECK_EQUAL(412, precondition("If-Match: " ETAG "\r\n"));
    CHECK_EQUAL(0, precondition("If-Match: *\r\n"));
    CHECK(!if_range(ETAG));
    CHECK(!if_range("W/" ETAG));
    validators = strong;
    CHECK(if_range(ETAG));
}

TEST(without_a_date_none_is_compared)
{
    validators.dated = false;
    CHECK_EQUAL(0, precondition("If-Modified-Since: " DATE "\r\n"));
    CHECK_EQUAL(412, precondition("If-Unmodified-Since: " BEFORE "\r\n"));
    CHECK(!if_range(DATE));
    CHECK(if_range(ETAG));
    validators.dated = true;
}

TEST(a_date_counts_once_its_second_is_over)
{
    time_t now = time(NULL);

    CHECK(uw_http_is_dated(now - 2));
    CHECK(uw_http_is_dated(MODIFIED));
    CHECK(!uw_http_is_dated(now + 1));
    CHECK(!uw_http_is_dated(time(NULL)));
    CHECK(!uw_http_is_dated(1));         /* of a store that keeps no times */
    CHECK(!uw_http_is_dated(315532800)); /* the first date of ZIP */
}

TEST(a_file_from_the_future_was_modified_now)
{
    struct uw_http_validators made;
    time_t now = time(NULL);

    uw_http_validators_make(&made, false, 1, 2, now + 1000, UW_CODING_IDENTITY);
    CHECK(made.modified >= now && made.modified < now + 1000);
    uw_http_validators_make(&made, false, 1, 2, INT64_MIN, UW_CODING_IDENTITY);
    CHECK_EQUAL(UW_HTTP_DATE_MIN, made.modified);
}

TEST_MAIN
