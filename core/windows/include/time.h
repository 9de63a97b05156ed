#ifndef UW_WINDOWS_TIME_H
#define UW_WINDOWS_TIME_H

#include_next <time.h>

/* The functions of the C library do not support times before 1970. */
struct tm *uw_posix_gmtime(const time_t *time, struct tm *fields);
time_t uw_posix_timegm(struct tm *fields);
#define gmtime_r uw_posix_gmtime
#define timegm uw_posix_timegm

#endif
