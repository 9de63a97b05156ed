#include "transport/tls_openssl.h"

#define DAY_SECONDS (24 * 60 * 60)

int64_t uw_tls_seconds_of(const ASN1_TIME *moment, int64_t now)
{
    int days, seconds;

    return ASN1_TIME_diff(&days, &seconds, NULL, moment) == 1 ? now + (int64_t)days * DAY_SECONDS + seconds : 0;
}
