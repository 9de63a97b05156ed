/* The head of a request, as every version of HTTP has it: what the client asks for, and what follows for the content.
 * Slices are offsets into the bytes that the head was read from, so those may move. */
#ifndef UW_HTTP_HEAD_H
#define UW_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/field.h"

#define UW_HTTP_HEADERS_MAX 100 /* room in the structure; a smaller limit can be set */

struct uw_http_limits {
    uint32_t head_bytes_max;   /* request line and all header lines with the final CRLF; above: 431 */
    uint32_t target_bytes_max; /* above: 414 */
    uint32_t headers_max;      /* at most UW_HTTP_HEADERS_MAX; above: 431 */
};

struct uw_http_slice {
    uint32_t offset, length;
};

struct uw_http_header {
    struct uw_http_slice name;  /* as the client wrote it */
    struct uw_http_slice value; /* without leading and trailing white space */
    enum uw_http_field field;   /* UW_FIELD_OTHER for a name not in the table of field.h */
};

enum uw_http_method {
    UW_METHOD_OTHER, /* any other token, at most UW_HTTP_METHOD_BYTES_MAX long; above: 501 */
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

/* RFC 9112, section 3.2. */
enum uw_http_form {
    UW_FORM_ORIGIN,    /* /path?query */
    UW_FORM_ABSOLUTE,  /* http://host/path?query */
    UW_FORM_AUTHORITY, /* host:port, CONNECT only */
    UW_FORM_ASTERISK,  /* *, OPTIONS only */
};

struct uw_http_head {
    /* Results, valid once the head is complete. */
    enum uw_http_method method;
    enum uw_http_form form;
    struct uw_http_slice method_name;
    struct uw_http_slice target; /* the whole request target */
    struct uw_http_slice path;   /* without the query; "/" of an absolute form without a path is given as length 0 */
    struct uw_http_slice query;  /* without "?"; offset 0 and length 0 when there is none */
    struct uw_http_slice
        host; /* the authority: from an absolute target if it has that form, else from Host; may be empty */
    uint8_t version_minor; /* HTTP/1.0 or HTTP/1.1 */
    bool keep_alive;       /* RFC 9112, section 9.3 */
    bool chunked;          /* Transfer-Encoding: chunked */
    bool has_content_length;
    bool expect_continue; /* Expect: 100-continue, of an HTTP/1.1 request */
    bool upgrade;         /* Connection names "upgrade" and there is an Upgrade field */
    uint64_t content_length;
    uint32_t header_count;
    struct uw_http_header headers[UW_HTTP_HEADERS_MAX];

    /* The parser's own memory between calls. */
    const struct uw_http_limits *limits;
    uint32_t position; /* bytes already looked at */
    uint32_t mark;     /* where the current token began */
    uint8_t state;
    uint8_t seen;        /* bits: which of the once-only fields have come */
    uint8_t empty_lines; /* skipped before the request line */
};

#endif
