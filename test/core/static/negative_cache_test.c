#include "static/negative_cache.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

static struct uw_negative_cache absent;

TEST(a_path_is_kept_for_a_while)
{
    const int64_t then = 5 * UW_NS_PER_SECOND;

    CHECK(!uw_negative_cache_have(&absent, "/a", 2, then));
    uw_negative_cache_add(&absent, "/a", 2, then);
    CHECK(uw_negative_cache_have(&absent, "/a", 2, then));
    CHECK(uw_negative_cache_have(&absent, "/a", 2, then + UW_NEGATIVE_CACHE_NS - 1));
    CHECK(!uw_negative_cache_have(&absent, "/a", 2, then + UW_NEGATIVE_CACHE_NS));
    CHECK(!uw_negative_cache_have(&absent, "/b", 2, then));
    CHECK(!uw_negative_cache_have(&absent, "/a/", 3, then));
}

TEST(a_long_path_is_not_kept)
{
    char path[UW_NEGATIVE_CACHE_PATH_BYTES_MAX + 1];

    memset(path, 'x', sizeof path);
    uw_negative_cache_add(&absent, path, sizeof path, 0);
    CHECK(!uw_negative_cache_have(&absent, path, sizeof path, 0));
    uw_negative_cache_add(&absent, path, sizeof path - 1, 0);
    CHECK(uw_negative_cache_have(&absent, path, sizeof path - 1, 0));
}

/* Ten times as many as there are places: none is taken for another, and the last is kept. */
TEST(paths_take_the_places_of_others)
{
    char path[16];

    for (int i = 0; i < 10 * UW_NEGATIVE_CACHE_MAX; i++) {
        size_t length = (size_t)snprintf(path, sizeof path, "/%d", i);

        CHECK(!uw_negative_cache_have(&absent, path, length, 0));
        uw_negative_cache_add(&absent, path, length, 0);
        CHECK(uw_negative_cache_have(&absent, path, length, 0));
    }
}

TEST_MAIN
