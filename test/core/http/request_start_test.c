#include "http/request_start.h"

#include "check.h"
#include "guard_page.h"

static int64_t read_start(const char *value)
{
    return uw_http_request_start_ns(guard_copy(value, strlen(value)), strlen(value));
}

TEST(each_unit)
{
    CHECK_EQUAL(1512379167574000000, read_start("t=1512379167.574"));
    CHECK_EQUAL(1512379167574000000, read_start("1512379167574"));
    CHECK_EQUAL(1512379167574321000, read_start("t=1512379167574321"));
    CHECK_EQUAL(1512379167574321000, read_start("t=1512379167574.321"));
    CHECK_EQUAL(1512379167000000000, read_start("1512379167"));
    CHECK_EQUAL(1512379167123456789, read_start("t=1512379167.123456789999"));
    CHECK_EQUAL(9000000000000000000, read_start("9000000000000000"));
}

TEST(no_time)
{
    static const char *const values[] = {
        "",
        "t",
        "t=",
        "t=0",
        "12345",
        "t=-1512379167",
        "t=1512379167.574s",
        "t=1512379167,574",
        "99999999999999999999999999999999",
        "9000000001000000",
        "999999999",
        "t=1512379167 ",
        "t=.5",
        "\"1512379167",
    };

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        CHECK_EQUAL(-1, read_start(values[i]));
}

TEST_MAIN
