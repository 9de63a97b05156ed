#include "http/quality_value.h"

#define QVALUE_DIGITS_MAX 3

/* Parses qvalue = "0" [ "." 0*3DIGIT ] / "1" [ "." 0*3"0" ]. Returns thousandths, or -1. */
static int read_qvalue(struct uw_http_cursor *element)
{
    int64_t whole, fraction = 0;
    size_t digits = 0;

    if (uw_http_read_number(element, &whole) != 1)
        return -1;
    if (uw_http_skip_text(element, "."))
        digits = uw_http_read_number(element, &fraction);
    for (size_t i = digits; i < QVALUE_DIGITS_MAX; i++)
        fraction *= 10;
    if (digits > QVALUE_DIGITS_MAX || whole * UW_HTTP_WEIGHT_MAX + fraction > UW_HTTP_WEIGHT_MAX)
        return -1;
    return (int)(whole * UW_HTTP_WEIGHT_MAX + fraction);
}

/* Parses weight = OWS ";" OWS "q=" qvalue. An absent weight counts as 1. */
int uw_http_read_weight(struct uw_http_cursor *element)
{
    int weight;

    if (uw_http_end_element(element))
        return UW_HTTP_WEIGHT_MAX;
    if (!uw_http_skip_text(element, ";"))
        return -1;
    uw_http_skip_space(element);
    if (!uw_http_skip_word(element, "q="))
        return -1;
    weight = read_qvalue(element);
    return uw_http_end_element(element) ? weight : -1;
}
