#include "log/server_line.h"

#include <unistd.h>

#include "check.h"

#define TIME 784111777

static char line[UW_LOG_LINE_BYTES_MAX + 1];

static void check_line(size_t length, const char *form)
{
    char expected[512];

    snprintf(expected, sizeof expected, form, (int)getpid());
    CHECK_EQUAL(strlen(expected), length);
    CHECK(!memcmp(expected, line, length));
}

TEST(text)
{
    check_line(uw_server_line(line, UW_LOG_TEXT, TIME, "a \"b\""), "1994-11-06T08:49:37Z upwell[%d]: a \"b\"\n");
    check_line(
        uw_refusals_suppressed_line(line, UW_LOG_TEXT, TIME, 9),
        "1994-11-06T08:49:37Z upwell[%d]: refused 9 more requests; the log lists only the first ones of a second\n");
}

TEST(json)
{
    check_line(uw_server_line(line, UW_LOG_JSON, TIME, "a \"b\"\n\xff"),
               "{\"time\":\"1994-11-06T08:49:37Z\",\"pid\":%d,\"message\":\"a \\u0022b\\u0022\\u000a\\ufffd\"}\n");
    check_line(uw_refusals_suppressed_line(line, UW_LOG_JSON, TIME, 9),
               "{\"time\":\"1994-11-06T08:49:37Z\",\"pid\":%d,\"message\":\"refused 9 more requests; the log lists "
               "only the first ones of a second\"}\n");
}

TEST(a_long_message_is_cut)
{
    static char message[2 * UW_LOG_LINE_BYTES_MAX];

    for (int byte = 1; byte < 256; byte++) {
        memset(message, byte, sizeof message - 1);
        for (enum uw_log_form form = UW_LOG_TEXT; form <= UW_LOG_JSON; form++) {
            size_t length = uw_server_line(line, form, TIME, message);

            CHECK(length > UW_LOG_MESSAGE_BYTES_MAX && length <= UW_LOG_LINE_BYTES_MAX);
            CHECK_EQUAL('\n', line[length - 1]);
        }
    }
}

TEST_MAIN
