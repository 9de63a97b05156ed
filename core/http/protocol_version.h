/* HTTP versions (RFC 9110, section 2.5). A later version compares greater. */
#ifndef UW_HTTP_PROTOCOL_VERSION_H
#define UW_HTTP_PROTOCOL_VERSION_H

enum uw_http_version {
    UW_HTTP_UNKNOWN, /* the request line has no valid version */
    UW_HTTP_1_0,
    UW_HTTP_1_1, /* also HTTP/1.2 to HTTP/1.9 */
};

/* Returns the version for the minor digit of HTTP/1. */
static inline enum uw_http_version uw_http_1(char minor)
{
    return minor == '0' ? UW_HTTP_1_0 : UW_HTTP_1_1;
}

/* Returns the digits of the version, as in "HTTP/1.1". Returns NULL for UW_HTTP_UNKNOWN. */
static inline const char *uw_http_version_digits(enum uw_http_version version)
{
    static const char *const digits[] = {[UW_HTTP_1_0] = "1.0", [UW_HTTP_1_1] = "1.1"};

    return digits[version];
}

#endif
