#include "http/known_fields.h"

#include <ctype.h>
#include <strings.h>

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

/* known_fields.c compares by the bit that only letters have. */
TEST(known_names_are_letters_digits_and_hyphens)
{
    for (int field = 1; field < UW_FIELD_COUNT; field++)
        for (const char *c = uw_http_field_name(field); *c; c++)
            CHECK(isalpha((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '-');
}

TEST(a_name_with_one_other_byte_is_not_found)
{
    for (int field = 1; field < UW_FIELD_COUNT; field++) {
        const char *known = uw_http_field_name(field);
        size_t length = strlen(known);

        for (size_t place = 0; place < length; place++) {
            for (int bit = 0; bit < 8; bit++) {
                char name[64];

                memcpy(name, known, length + 1);
                name[place] = (char)(name[place] ^ 1 << bit);
                if (strcasecmp(name, known) != 0)
                    CHECK(uw_http_field_find(name, length) != (enum uw_http_field)field);
            }
        }
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
