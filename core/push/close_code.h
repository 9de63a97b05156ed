/* Close codes (RFC 6455, section 7.4). Every long-lived client ends with one; a WebSocket sends it to the client. */
#ifndef UW_PUSH_CLOSE_CODE_H
#define UW_PUSH_CLOSE_CODE_H

#include <stdbool.h>

/* Section 7.4.1. */
enum uw_close_code {
    UW_CLOSE_NORMAL = 1000,
    UW_CLOSE_GOING_AWAY = 1001,
    UW_CLOSE_PROTOCOL_ERROR = 1002,
    UW_CLOSE_NO_STATUS = 1005, /* is never sent */
    UW_CLOSE_ABNORMAL = 1006,  /* is never sent */
    UW_CLOSE_INVALID_DATA = 1007,
    UW_CLOSE_POLICY = 1008,
    UW_CLOSE_TOO_BIG = 1009,
    UW_CLOSE_INTERNAL_ERROR = 1011,
};

/* Whether a close frame may name `code` (sections 7.4.1 and 7.4.2, and IANA's registry). */
static inline bool uw_close_code_is_valid(unsigned code)
{
    if (code >= 3000)
        return code <= 4999;
    return code >= UW_CLOSE_NORMAL && code <= 1014 && code != 1004 && code != UW_CLOSE_NO_STATUS &&
           code != UW_CLOSE_ABNORMAL;
}

#endif
