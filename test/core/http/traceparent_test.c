#include "http/traceparent.h"

#include "check.h"
#include "guard_page.h"

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"
#define ZEROS "00000000000000000000000000000000"

static size_t taken(const char *value)
{
    return uw_http_traceparent(guard_copy(value, strlen(value)), strlen(value));
}

TEST(valid)
{
    CHECK_EQUAL(55, taken("00-" TRACE "-" PARENT "-01"));
    CHECK_EQUAL(55, taken("00-" TRACE "-" PARENT "-00"));
    CHECK_EQUAL(55, taken("cc-" TRACE "-" PARENT "-01"));
    CHECK_EQUAL(55, taken("cc-" TRACE "-" PARENT "-01-what-the-future-will-be-like"));
}

TEST(invalid)
{
    static const char *const values[] = {
        "",
        "00",
        "00-" TRACE "-" PARENT "-0",
        "00-" TRACE "-" PARENT "-01-",
        "00-" TRACE "-" PARENT "-011",
        "cc-" TRACE "-" PARENT "-01.what",
        "ff-" TRACE "-" PARENT "-01",
        "0G-" TRACE "-" PARENT "-01",
        "00-" ZEROS "-" PARENT "-01",
        "00-" TRACE "-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-" PARENT "-01",
        "00_" TRACE "_" PARENT "_01",
        "00-" TRACE "-" PARENT "-0\"",
    };

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        CHECK_EQUAL(0, taken(values[i]));
}

TEST_MAIN
