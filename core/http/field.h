/* The header fields known by number, and a perfect hash that finds them by name in any case. */
#ifndef UW_HTTP_FIELD_H
#define UW_HTTP_FIELD_H

#include <stddef.h>

/* One line a field: constant, name as RFC 9110 writes it. Extend here; the table follows. */
#define UW_HTTP_FIELDS(FIELD) \
    FIELD(HOST, "Host") \
    FIELD(CONNECTION, "Connection") \
    FIELD(CONTENT_LENGTH, "Content-Length") \
    FIELD(TRANSFER_ENCODING, "Transfer-Encoding") \
    FIELD(EXPECT, "Expect") \
    FIELD(UPGRADE, "Upgrade") \
    FIELD(ACCEPT, "Accept")

enum uw_http_field {
    UW_FIELD_OTHER,
#define UW_FIELD_CONSTANT(constant, name) UW_FIELD_##constant,
    UW_HTTP_FIELDS(UW_FIELD_CONSTANT)
#undef UW_FIELD_CONSTANT
        UW_FIELD_COUNT
};

/* The field of that name, compared without case; UW_FIELD_OTHER when it is not in the table. */
enum uw_http_field uw_http_field_find(const char *name, size_t length);

/* The name as RFC 9110 writes it; NULL for UW_FIELD_OTHER. */
const char *uw_http_field_name(enum uw_http_field field);

#endif
