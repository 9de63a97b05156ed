/* Classifies the bytes of HTTP messages. */
#ifndef UW_HTTP_BYTE_CLASS_H
#define UW_HTTP_BYTE_CLASS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    UW_BYTE_TOKEN = 1,  /* tchar, RFC 9110, section 5.6.2 */
    UW_BYTE_TARGET = 2, /* visible ASCII except "#", which would begin a fragment */
    UW_BYTE_VALUE = 4,  /* field-content, RFC 9110, section 5.5: visible, space, tab, and obs-text */
    UW_BYTE_HOST = 8,   /* reg-name, RFC 3986, section 3.2.2, except "%" */
    UW_BYTE_DIGIT = 16,
};

extern const uint8_t uw_http_byte_classes[256];

static inline bool uw_http_byte_is(char c, uint8_t class)
{
    return uw_http_byte_classes[(unsigned char)c] & class;
}

#endif
