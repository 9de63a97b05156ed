/* The head of a request in any version of HTTP. Slices are offsets into the head's bytes, so the bytes may move. */
#ifndef UW_HTTP_REQUEST_HEAD_H
#define UW_HTTP_REQUEST_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/known_fields.h"
#include "http/protocol_version.h"

#define UW_HTTP_HEADERS_MAX 10000  /* upper limit of the setting headers_max */
#define UW_HTTP_HEADERS_INLINE 100 /* capacity of struct uw_http_head. Further headers are allocated */

struct uw_http_limits {
    uint32_t head_bytes_max;   /* request line and header lines with the final CRLF. Beyond: 431 */
    uint32_t target_bytes_max; /* bytes of the request target. Beyond: 414 */
    uint32_t headers_max;      /* number of headers, at most UW_HTTP_HEADERS_MAX. Beyond: 431 */
};

struct uw_http_slice {
    uint32_t offset, length;
};

struct uw_http_header {
    struct uw_http_slice name;  /* as the client sent it */
    struct uw_http_slice value; /* without OWS on both sides */
    enum uw_http_field field;   /* UW_FIELD_OTHER for a name that known_fields.h does not list */
};

enum uw_http_method {
    UW_METHOD_OTHER, /* any other token of at most UW_HTTP_METHOD_BYTES_MAX bytes. A longer token: 501 */
    UW_METHOD_GET,
    UW_METHOD_HEAD,
    UW_METHOD_POST,
    UW_METHOD_PUT,
    UW_METHOD_DELETE,
    UW_METHOD_PATCH,
    UW_METHOD_OPTIONS,
    UW_METHOD_CONNECT,
    UW_METHOD_TRACE,
};

#define UW_HTTP_METHOD_BYTES_MAX 24

/* The forms of a request target (RFC 9112, section 3.2). */
enum uw_http_form {
    UW_FORM_ORIGIN,    /* /path?query */
    UW_FORM_ABSOLUTE,  /* http://host/path?query */
    UW_FORM_AUTHORITY, /* host:port, CONNECT only */
    UW_FORM_ASTERISK,  /* *, OPTIONS only */
};

struct uw_http_head {
    /* These members are valid after the end of the head. */
    enum uw_http_method method;
    enum uw_http_form form;
    struct uw_http_slice method_name;
    struct uw_http_slice target; /* the whole request target */
    struct uw_http_slice path;   /* without the query. Length 0: an absolute form without a path, which means "/" */
    struct uw_http_slice query;  /* without "?". Offset 0 and length 0: no query */
    struct uw_http_slice host;   /* authority of an absolute target, or else the value of Host. May be empty */
    uint8_t version;             /* enum uw_http_version */
    bool keep_alive;             /* RFC 9112, section 9.3 */
    bool chunked;                /* Transfer-Encoding: chunked */
    bool has_content_length;
    bool expect_continue; /* HTTP/1.1 request with Expect: 100-continue */
    bool upgrade;         /* Connection contains "upgrade", and a field Upgrade exists */
    uint64_t content_length;
    uint32_t header_count;
    struct uw_http_header *more; /* headers after `headers`, or NULL */
    uint32_t more_capacity;
    struct uw_http_header headers[UW_HTTP_HEADERS_INLINE];

    /* State of the parser between calls */
    const struct uw_http_limits *limits;
    uint32_t position; /* number of parsed bytes */
    uint32_t mark;     /* offset of the current token */
    uint8_t state;
    uint8_t seen;        /* bitmap of the fields that have arrived and must be unique */
    uint8_t empty_lines; /* number of skipped empty lines before the request line */
};

/* Returns the header at `index`, which is below head->header_count. */
static inline const struct uw_http_header *uw_http_header(const struct uw_http_head *head, uint32_t index)
{
    return index < UW_HTTP_HEADERS_INLINE ? &head->headers[index] : &head->more[index - UW_HTTP_HEADERS_INLINE];
}

/* Returns the slot of the next header, at index head->header_count, or NULL without memory. Only parsers call this
 * function. */
struct uw_http_header *uw_http_head_next(struct uw_http_head *head);

/* Frees the headers beyond UW_HTTP_HEADERS_INLINE. */
void uw_http_head_free(struct uw_http_head *head);

#endif
