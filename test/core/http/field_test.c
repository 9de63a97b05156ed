#include "http/field.h"

#include <ctype.h>

#include "check.h"

TEST(every_field_is_found_in_any_case)
{
    for (int field = 1; field < UW_FIELD_COUNT; field++) {
        const char *name = uw_http_field_name(field);
        char upper[64] = {0};

        for (size_t i = 0; name[i]; i++)
            upper[i] = (char)toupper(name[i]);
        CHECK_EQUAL(field, uw_http_field_find(name, strlen(name)));
        CHECK_EQUAL(field, uw_http_field_find(upper, strlen(name)));
        CHECK_EQUAL(UW_FIELD_OTHER, uw_http_field_find(name, strlen(name) - 1));
    }
}

TEST(other_names_are_not)
{
    static const char *const others[] = {
        "", "X", "Hosts", "Hos", "Content_Length", "Content\rLength", "Contemt-Length"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK_EQUAL(UW_FIELD_OTHER, uw_http_field_find(others[i], strlen(others[i])));
}

TEST_MAIN
