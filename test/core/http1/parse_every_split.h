/* Parses a text whole, byte by byte and cut in two at every place, each time up to a guard page, and checks that the
 * outcome is the same. */
#ifndef UW_TEST_PARSE_EVERY_SPLIT_H
#define UW_TEST_PARSE_EVERY_SPLIT_H

#include "http1/parser.h"

#include "check.h"
#include "guard_page.h"

static const struct uw_http_limits limits = {.head_bytes_max = 4096, .target_bytes_max = 512, .headers_max = 10};

/* Cleared as a whole, so that heads can be compared as memory. */
static void begin_head(struct uw_http_head *head)
{
    memset(head, 0, sizeof *head);
    uw_http_head_init(head, &limits);
}

static int parse_cut(struct uw_http_head *head, const char *text, size_t length, size_t cut)
{
    int result;

    begin_head(head);
    result = uw_http_parse(head, guard_copy(text, cut), cut);
    return result == 0 ? uw_http_parse(head, guard_copy(text, length), length) : result;
}

static int parse_bytewise(struct uw_http_head *head, const char *text, size_t length)
{
    int result = 0;

    begin_head(head);
    for (size_t i = 1; i <= length && result == 0; i++)
        result = uw_http_parse(head, guard_copy(text, i), i);
    return result;
}

static int parse_every_cut(struct uw_http_head *head, const char *text, size_t length)
{
    struct uw_http_head other;
    int result;

    begin_head(head);
    result = uw_http_parse(head, guard_copy(text, length), length);
    CHECK_EQUAL(result, parse_bytewise(&other, text, length));
    CHECK(result <= 0 || memcmp(head, &other, sizeof other) == 0);
    for (size_t cut = 0; cut < length; cut++) {
        CHECK_EQUAL(result, parse_cut(&other, text, length, cut));
        CHECK(result <= 0 || memcmp(head, &other, sizeof other) == 0);
    }
    return result;
}

#endif
