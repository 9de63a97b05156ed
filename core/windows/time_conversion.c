/* Implements gmtime_r(3) and timegm(3). The C library does not support times before 1970. */
#include <stdint.h>
#include <time.h>

#define DAYS_OF_4_CENTURIES 146097
#define DAYS_BEFORE_1970 719468 /* since 1 March of the year 0 */
#define DAY_S 86400
#define THURSDAY 4 /* weekday of 1 January 1970 */

static int64_t floor_division(int64_t number, int64_t by)
{
    return number / by - (number % by < 0);
}

/* Years are counted from 1 March, so the leap day is the last day of a year. */
static int64_t days_since_1970(int64_t year, int64_t month, int64_t day)
{
    int64_t months = year * 12 + month - 2, from_march = floor_division(months, 12);

    return from_march * 365 + floor_division(from_march, 4) - floor_division(from_march, 100) +
           floor_division(from_march, 400) + ((months - from_march * 12) * 153 + 2) / 5 + day - 1 - DAYS_BEFORE_1970;
}

/* Sets the date. `days` counts from 1 January 1970. */
static void set_date(struct tm *fields, int64_t days)
{
    int64_t era = floor_division(days + DAYS_BEFORE_1970, DAYS_OF_4_CENTURIES),
            day_of_era = days + DAYS_BEFORE_1970 - era * DAYS_OF_4_CENTURIES,
            year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365,
            day = day_of_era - (year_of_era * 365 + year_of_era / 4 - year_of_era / 100),
            month = (day * 5 + 2) / 153; /* months since March */

    fields->tm_mday = (int)(day - (month * 153 + 2) / 5 + 1);
    fields->tm_mon = (int)((month + 2) % 12);
    fields->tm_year = (int)(era * 400 + year_of_era + (month > 9) - 1900);
    fields->tm_yday = (int)(days - days_since_1970(fields->tm_year + 1900, 0, 1));
    fields->tm_wday = (int)(days + THURSDAY - floor_division(days + THURSDAY, 7) * 7);
}

struct tm *uw_posix_gmtime(const time_t *time, struct tm *fields)
{
    int64_t days = floor_division(*time, DAY_S), seconds = *time - days * DAY_S;

    *fields = (struct tm){
        .tm_hour = (int)(seconds / 3600), .tm_min = (int)(seconds / 60 % 60), .tm_sec = (int)(seconds % 60)};
    set_date(fields, days);
    return fields;
}

/* Normalizes the fields, as in POSIX: 30 February becomes a day in March. */
time_t uw_posix_timegm(struct tm *fields)
{
    time_t time = days_since_1970(fields->tm_year + INT64_C(1900), fields->tm_mon, fields->tm_mday) * DAY_S +
                  fields->tm_hour * INT64_C(3600) + fields->tm_min * INT64_C(60) + fields->tm_sec;

    (void)uw_posix_gmtime(&time, fields);
    return time;
}
