#include "server/trusted_peer.h"

#include "check.h"
#include "server/connection.h"

static bool trusts(const char *address)
{
    static struct uw_connection connection;
    static struct uw_stream stream = {.connection = &connection};
    static struct uw_request request = {.stream = &stream};

    snprintf(connection.remote, sizeof connection.remote, "%s", address);
    return uw_request_has_trusted_peer(&request);
}

TEST(this_machine_is_trusted)
{
    CHECK(trusts("127.0.0.1"));
    CHECK(trusts("127.255.0.77"));
    CHECK(trusts("::1"));
}

TEST(no_other_machine_is)
{
    static const char *const others[] = {"192.0.2.1", "10.0.0.1",    "1.127.0.0", "12.7.0.1",
                                         "::",        "::127.0.0.1", "::1:1",     "2001:db8::1"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(!trusts(others[i]));
}

TEST_MAIN
