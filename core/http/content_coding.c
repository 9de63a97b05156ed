#include "http/content_coding.h"

#include <stdbool.h>

#include "http/byte_class.h"
#include "http/field_cursor.h"
#include "http/quality_value.h"

#define IDENTITY_WEIGHT_DEFAULT 1 /* weight of identity by default: any other acceptable coding has priority */

enum {
    ANY = UW_CODING_COUNT,
    ALIAS_OF_GZIP, /* RFC 9110, section 8.4.1.3 */
    NAME_COUNT,
};

static const char names[NAME_COUNT][9] = {"br", "zstd", "gzip", "identity", "*", "x-gzip"};
static const char suffixes[UW_CODING_COUNT][5] = {".br", ".zst", ".gz", ""};

void uw_http_accepted_codings_init(struct uw_http_accepted_codings *accepted)
{
    *accepted = (struct uw_http_accepted_codings){.weight[UW_CODING_IDENTITY] = IDENTITY_WEIGHT_DEFAULT};
}

/* Reads the name of a coding. Returns the coding, ANY for "*", or -1. */
static int read_coding(struct uw_http_cursor *element)
{
    struct uw_http_cursor name = *element;

    while (element->at < element->end && uw_http_byte_is(*element->at, UW_BYTE_TOKEN))
        element->at++;
    name.end = element->at;
    for (int coding = 0; coding < NAME_COUNT; coding++) {
        struct uw_http_cursor rest = name;

        if (uw_http_skip_word(&rest, names[coding]) && rest.at == rest.end)
            return coding == ALIAS_OF_GZIP ? UW_CODING_GZIP : coding;
    }
    return -1;
}

void uw_http_accepted_codings_add(struct uw_http_accepted_codings *accepted, const char *value, size_t length)
{
    struct uw_http_cursor list = uw_http_cursor(value, length);

    for (; uw_http_next_element(&list); uw_http_skip_element(&list)) {
        int coding = read_coding(&list), weight = uw_http_read_weight(&list);

        if (coding < 0 || weight < 0)
            continue;
        accepted->listed |= UW_CODING_BIT(coding);
        accepted->weight[coding] = (uint16_t)weight;
    }
}

/* "*" stands for all codings that the field does not list. */
static int coding_weight(const struct uw_http_accepted_codings *accepted, int coding)
{
    bool use_star = accepted->listed & UW_CODING_BIT(ANY) && !(accepted->listed & UW_CODING_BIT(coding));

    return accepted->weight[use_star ? ANY : coding];
}

int uw_http_coding_choose(const struct uw_http_accepted_codings *accepted, unsigned available)
{
    int best = -406, best_weight = 0;

    for (int coding = 0; coding < UW_CODING_COUNT; coding++) {
        int weight = coding_weight(accepted, coding);

        if (available & UW_CODING_BIT(coding) && weight > best_weight) {
            best = coding;
            best_weight = weight;
        }
    }
    return best;
}

const char *uw_http_coding_name(enum uw_http_coding coding)
{
    return coding == UW_CODING_IDENTITY ? "" : names[coding];
}

const char *uw_http_coding_suffix(enum uw_http_coding coding)
{
    return suffixes[coding];
}
