/* Values of the fields that choose a representation or make a request conditional: the first byte of the input says
 * which field, the rest is its value. A date that is read must be written as one that is read the same. */
#include <stdlib.h>
#include <string.h>

#include "http/conditional.h"
#include "http/date.h"
#include "http1/parser.h"

#define YEAR_10000 253402300800 /* reached by a leap second; the preferred form has no more than four digits */

static const enum uw_http_field fields[] = {UW_FIELD_IF_MATCH,          UW_FIELD_IF_NONE_MATCH,
                                            UW_FIELD_IF_MODIFIED_SINCE, UW_FIELD_IF_UNMODIFIED_SINCE,
                                            UW_FIELD_IF_RANGE,          UW_FIELD_ACCEPT_ENCODING};

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_date(const char *value, size_t length)
{
    char text[UW_HTTP_DATE_BYTES + 1];
    time_t date, again;

    if (!uw_http_date_parse(value, length, &date) || date >= YEAR_10000)
        return;
    uw_http_date(date, text);
    require(uw_http_date_parse(text, UW_HTTP_DATE_BYTES, &again) && again == date);
}

static void check_coding(const char *value, size_t length)
{
    struct uw_http_accepted_codings accepted;

    uw_http_accepted_codings_init(&accepted);
    uw_http_accepted_codings_add(&accepted, value, length);
    for (unsigned available = 0; available < 1u << UW_CODING_COUNT; available++) {
        int coding = uw_http_coding_choose(&accepted, available);

        require(coding == -406 || available & UW_CODING_BIT(coding));
    }
}

static void check_condition(const char *value, size_t length, enum uw_http_field field)
{
    static const struct uw_http_validators validators = {
        .etag = "\"a\"", .etag_length = 3, .dated = true, .modified = 784111777};
    static struct uw_http_head head;
    int status;

    head.header_count = 1;
    head.headers[0] = (struct uw_http_header){.value = {0, (uint32_t)length}, .field = field};
    status = uw_http_precondition(&head, value, &validators);
    require(status == 0 || status == 304 || status == 412);
    require(field != UW_FIELD_IF_RANGE || status == 0);
    (void)uw_http_if_range(&head, value, &validators);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *value; /* its end is the sanitizer's */

    if (size < 2)
        return 0;
    value = malloc(size - 1);
    if (!value)
        abort();
    memcpy(value, data + 1, size - 1);
    check_condition(value, size - 1, fields[data[0] % (sizeof fields / sizeof *fields)]);
    check_date(value, size - 1);
    check_coding(value, size - 1);
    free(value);
    return 0;
}
