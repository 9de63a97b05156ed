#include "http/date.h"

#include "check.h"
#include "guard_page.h"

#define EXAMPLE 784111777 /* the moment that RFC 9110, section 5.6.7, gives in three forms */

static time_t parse(const char *text)
{
    time_t time = -1;

    if (!uw_http_date_parse(guard_copy(text, strlen(text)), strlen(text), &time))
        CHECK_EQUAL(-1, time);
    return time;
}

TEST(three_forms)
{
    CHECK_EQUAL(EXAMPLE, parse("Sun, 06 Nov 1994 08:49:37 GMT"));
    CHECK_EQUAL(EXAMPLE, parse("Sunday, 06-Nov-94 08:49:37 GMT"));
    CHECK_EQUAL(EXAMPLE, parse("Sun Nov  6 08:49:37 1994"));
    CHECK_EQUAL(EXAMPLE + 10 * 86400, parse("Wed Nov 16 08:49:37 1994"));
}

TEST(every_day_and_month_in_every_form)
{
    for (int day = 0; day < 800; day++) {
        char forms[][32] = {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b .. %H:%M:%S %Y"};
        time_t time = 1700000000 + (time_t)day * 86400;
        struct tm parts;
        char text[100];

        CHECK(gmtime_r(&time, &parts) != NULL);
        /* %e is not C's */
        CHECK(snprintf(forms[2], sizeof forms[2], "%%a %%b %2d %%H:%%M:%%S %%Y", parts.tm_mday) < (int)sizeof forms[2]);
        for (int form = 0; form < 3; form++) {
            CHECK(strftime(text, sizeof text, forms[form], &parts) > 0);
            CHECK_EQUAL(time, parse(text));
        }
        uw_http_date(time, text);
        CHECK_EQUAL(time, parse(text));
    }
}

TEST(a_year_of_two_digits_is_at_most_fifty_years_ahead)
{
    time_t now = time(NULL);
    struct tm parts;

    CHECK(gmtime_r(&now, &parts) != NULL);
    for (int ahead = -49; ahead <= 50; ahead++) {
        char text[100];
        struct tm expected = {.tm_year = parts.tm_year + ahead, .tm_mon = 5, .tm_mday = 15};
        time_t time = timegm(&expected);

        CHECK(snprintf(text, sizeof text, "Monday, 15-Jun-%02d 00:00:00 GMT", (parts.tm_year + ahead) % 100) > 0);
        CHECK_EQUAL(time, parse(text));
    }
}

TEST(a_year_that_has_not_four_digits_is_the_nearest_that_has)
{
    static const struct {
        time_t time;
        const char *text;
    } dates[] = {
        {-62167219200, "Sat, 01 Jan 0000 00:00:00 GMT"},  {-62167219201, "Sat, 01 Jan 0000 00:00:00 GMT"},
        {-99999999999, "Sat, 01 Jan 0000 00:00:00 GMT"},  {INT64_MIN, "Sat, 01 Jan 0000 00:00:00 GMT"},
        {253402300799, "Fri, 31 Dec 9999 23:59:59 GMT"},  {253402300800, "Fri, 31 Dec 9999 23:59:59 GMT"},
        {9999999999999, "Fri, 31 Dec 9999 23:59:59 GMT"}, {INT64_MAX, "Fri, 31 Dec 9999 23:59:59 GMT"},
    };

    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        char text[UW_HTTP_DATE_BYTES + 1];

        uw_http_date(dates[i].time, text);
        CHECK(strcmp(text, dates[i].text) == 0);
    }
}

TEST(edges)
{
    CHECK_EQUAL(0, parse("Thu, 01 Jan 1970 00:00:00 GMT"));
    CHECK_EQUAL(951782400, parse("Tue, 29 Feb 2000 00:00:00 GMT"));
    CHECK_EQUAL(1483228800, parse("Sat, 31 Dec 2016 23:59:60 GMT"));
    CHECK_EQUAL(INT64_C(253402300799), parse("Fri, 31 Dec 9999 23:59:59 GMT"));
}

TEST(everything_else_is_no_date)
{
    static const char *const texts[] = {
        "",
        "Sun",
        "Sun,",
        "1994-11-06T08:49:37Z",
        "784111777",
        "0",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, 06 Nov 1994 08:49:37 GMT ",
        "sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun,06 Nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 006 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun, 06 Nov 01994 08:49:37 GMT",
        "Sun, 32 Nov 1994 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Wed, 29 Feb 2023 00:00:00 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 1994 08-49-37 GMT",
        "Sun, 06 Foo 1994 08:49:37 GMT",
        "Foo, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sun, 06-Nov-94 08:49:37 GMT",
        "Saday, 06-Nov-94 08:49:37 GMT",
        "Sunday 06-Nov-94 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994",
        "Sun Nov 06 08:49:37 94",
        "Sun Nov   6 08:49:37 1994",
        "Sun Nov  6 08:49:37 1994 GMT",
        "Sun, -6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov -994 08:49:37 GMT",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (parse(texts[i]) != -1) {
            check_failures++;
            printf("%s: is taken for a date\n", texts[i]);
        }
}

TEST(cut_anywhere)
{
    static const char *const texts[] = {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                                        "Sun Nov  6 08:49:37 1994"};

    for (int i = 0; i < 3; i++)
        for (size_t length = 0; length < strlen(texts[i]); length++) {
            time_t time;

            CHECK(!uw_http_date_parse(guard_copy(texts[i], length), length, &time));
        }
}

TEST_MAIN
