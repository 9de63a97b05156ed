#include "http/content_coding.h"

#include "check.h"
#include "guard_page.h"

#define IDENTITY UW_CODING_BIT(UW_CODING_IDENTITY)
#define GZIP (IDENTITY | UW_CODING_BIT(UW_CODING_GZIP))
#define ALL (GZIP | UW_CODING_BIT(UW_CODING_BR) | UW_CODING_BIT(UW_CODING_ZSTD))

static int choose(const char *value, unsigned available)
{
    struct uw_http_accepted_codings accepted;

    uw_http_accepted_codings_init(&accepted);
    uw_http_accepted_codings_add(&accepted, guard_copy(value, strlen(value)), strlen(value));
    return uw_http_coding_choose(&accepted, available);
}

TEST(without_the_field_only_identity)
{
    struct uw_http_accepted_codings accepted;

    uw_http_accepted_codings_init(&accepted);
    CHECK_EQUAL(UW_CODING_IDENTITY, uw_http_coding_choose(&accepted, ALL));
}

TEST(by_name)
{
    CHECK_EQUAL(UW_CODING_IDENTITY, choose("", ALL));
    CHECK_EQUAL(UW_CODING_GZIP, choose("gzip", ALL));
    CHECK_EQUAL(UW_CODING_GZIP, choose("GZip", ALL));
    CHECK_EQUAL(UW_CODING_GZIP, choose("x-gzip", ALL));
    CHECK_EQUAL(UW_CODING_IDENTITY, choose("gzip", IDENTITY));
    CHECK_EQUAL(UW_CODING_ZSTD, choose("gzip, zstd", ALL));
    CHECK_EQUAL(UW_CODING_BR, choose("gzip, deflate, br, zstd", ALL));
    CHECK_EQUAL(UW_CODING_BR, choose("gzip,deflate,br", ALL));
    CHECK_EQUAL(UW_CODING_GZIP, choose("gzip, deflate, br, zstd", GZIP));
    CHECK_EQUAL(UW_CODING_IDENTITY, choose("deflate, compress, gzi, gzipp, b", ALL));
}

TEST(weights)
{
    CHECK_EQUAL(UW_CODING_GZIP, choose("br;q=0.5, gzip;q=0.8", ALL));
    CHECK_EQUAL(UW_CODING_GZIP, choose("gzip;q=0.001", ALL));
    CHECK_EQUAL(UW_CODING_IDENTITY, choose("gzip;q=0", ALL));
    CHECK_EQUAL(UW_CODING_IDENTITY, choose("gzip;q=0.000", ALL));
    CHECK_EQUAL(UW_CODING_IDENTITY, choose("gzip;q=0.5, identity;q=0.8", ALL));
    CHECK_EQUAL(UW_CODING_GZIP, choose("gzip;q=1.000, br;q=0.999", ALL));
    CHECK_EQUAL(UW_CODING_GZIP, choose("gzip;q=1., br;q=0.", ALL));
    CHECK_EQUAL(UW_CODING_GZIP, choose("gzip ;\tQ=0.9 , br;q=0.89", ALL));
    CHECK_EQUAL(UW_CODING_GZIP, choose(",, gzip;q=0.9 ,, br;q=0.89,,", ALL));
}

TEST(a_star_stands_for_what_is_not_named)
{
    CHECK_EQUAL(UW_CODING_BR, choose("*", ALL));
    CHECK_EQUAL(UW_CODING_GZIP, choose("*", GZIP));
    CHECK_EQUAL(UW_CODING_ZSTD, choose("br;q=0, *", ALL));
    CHECK_EQUAL(UW_CODING_GZIP, choose("*;q=0.5, gzip", ALL));
    CHECK_EQUAL(UW_CODING_IDENTITY, choose("*;q=0, identity", ALL));
    CHECK_EQUAL(UW_CODING_IDENTITY, choose("*;q=0.5, identity;q=0.6", ALL));
}

TEST(nothing_acceptable)
{
    CHECK_EQUAL(-406, choose("identity;q=0", IDENTITY));
    CHECK_EQUAL(-406, choose("*;q=0", ALL));
    CHECK_EQUAL(-406, choose("gzip, identity;q=0", IDENTITY));
    CHECK_EQUAL(UW_CODING_GZIP, choose("gzip, identity;q=0", GZIP));
    CHECK_EQUAL(UW_CODING_GZIP, choose("gzip, *;q=0", ALL));
}

TEST(malformed_elements_count_as_absent)
{
    static const char *const elements[] = {
        "gzip;q=2",
        "gzip;q=1.001",
        "gzip;q=0.1234",
        "gzip;q=-1",
        "gzip;q=",
        "gzip;q",
        "gzip;",
        "gzip;x=1",
        "gzip;q=0.5x",
        "gzip;q= 1",
        "gzip;q =1",
        "gzip x",
        "gzip=1",
        "\"gzip\"",
        "gzip;q=1;q=1",
        "gzip;q=.5",
        "gzip;q=00.5",
        "gzip;q=1.x",
        "gzip;q=1.1",
        ";q=1",
        "/gzip",
        "gzip;q=99999999999999999999",
        "gzip;q=0.99999999999999999999",
        "gzip;q=0.1.2",
    };

    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        char value[100];

        CHECK_EQUAL(UW_CODING_IDENTITY, choose(elements[i], ALL));
        snprintf(value, sizeof value, "%s, zstd", elements[i]);
        CHECK_EQUAL(UW_CODING_ZSTD, choose(value, ALL));
    }
}

TEST(several_field_lines)
{
    struct uw_http_accepted_codings accepted;

    uw_http_accepted_codings_init(&accepted);
    uw_http_accepted_codings_add(&accepted, "gzip", 4);
    uw_http_accepted_codings_add(&accepted, "identity;q=0", 12);
    CHECK_EQUAL(UW_CODING_GZIP, uw_http_coding_choose(&accepted, ALL));
    CHECK_EQUAL(-406, uw_http_coding_choose(&accepted, IDENTITY));
}

TEST(names_and_suffixes)
{
    CHECK(strcmp(uw_http_coding_name(UW_CODING_GZIP), "gzip") == 0);
    CHECK(strcmp(uw_http_coding_name(UW_CODING_ZSTD), "zstd") == 0);
    CHECK(strcmp(uw_http_coding_name(UW_CODING_IDENTITY), "") == 0);
    CHECK(strcmp(uw_http_coding_suffix(UW_CODING_BR), ".br") == 0);
    CHECK(strcmp(uw_http_coding_suffix(UW_CODING_ZSTD), ".zst") == 0);
    CHECK(strcmp(uw_http_coding_suffix(UW_CODING_GZIP), ".gz") == 0);
    CHECK(strcmp(uw_http_coding_suffix(UW_CODING_IDENTITY), "") == 0);
}

TEST_MAIN
