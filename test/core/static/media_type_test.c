#include "static/media_type.h"

#include "check.h"
#include "http/range.h"

TEST(types_are_found_by_extension)
{
    static char long_type[UW_HTTP_MEDIA_TYPE_BYTES_MAX + 2];
    const struct uw_media_type table[] = {
        {"css", "text/css"}, {"gz", "application/gzip"}, {"long", long_type}, {"txt", "text/plain"}};
    const struct uw_media_types types = {table, sizeof table / sizeof *table};
    static const char *const expected[][2] = {
        {"a.css", "text/css"},
        {"folder.txt/a.CSS", "text/css"},
        {"a.tar.gz", "application/gzip"},
        {"txt", UW_MEDIA_TYPE_DEFAULT},
        {"folder.txt/a", UW_MEDIA_TYPE_DEFAULT},
        {"a.", UW_MEDIA_TYPE_DEFAULT},
        {"a.unknown", UW_MEDIA_TYPE_DEFAULT},
        {"a.abcdefghijklmnopqrstuvwxyz", UW_MEDIA_TYPE_DEFAULT},
        {"a.long", UW_MEDIA_TYPE_DEFAULT},
        {"", UW_MEDIA_TYPE_DEFAULT},
    };

    memset(long_type, 'x', sizeof long_type - 1);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        CHECK(strcmp(expected[i][1], uw_media_type_find(&types, expected[i][0])) == 0);
    CHECK(strcmp(UW_MEDIA_TYPE_DEFAULT, uw_media_type_find(&(struct uw_media_types){0}, "a.css")) == 0);
}

TEST_MAIN
