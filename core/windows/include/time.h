#ifndef UW_WINDOWS_TIME_H
#define UW_WINDOWS_TIME_H

#include_next <time.h>

static inline struct tm *uw_posix_gmtime(const time_t *time, struct tm *fields)
{
    return gmtime_s(fields, time) ? NULL : fields;
}

#define gmtime_r uw_posix_gmtime
#define timegm _mkgmtime64

#endif
