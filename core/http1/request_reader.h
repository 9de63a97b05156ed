/* Reads one request of HTTP/1.1 from bytes: its head, then its content, by length or in chunks. */
#ifndef UW_HTTP1_REQUEST_READER_H
#define UW_HTTP1_REQUEST_READER_H

#include "http1/chunked.h"
#include "server/request.h"

struct uw_http1_reader {
    struct uw_request *request;
    bool in_body;
    uint64_t body_left;             /* with Content-Length: bytes still missing */
    struct uw_http_chunked chunked; /* without Content-Length */
};

enum uw_http1_reading {
    UW_HTTP1_MORE = 0,     /* the request needs more bytes */
    UW_HTTP1_BODY = 1,     /* the head is complete, and content follows */
    UW_HTTP1_COMPLETE = 2, /* the request is complete */
};

/* Starts with a request without bytes. */
void uw_http1_reader_begin(struct uw_http1_reader *reader, struct uw_request *request);

/* Reads at most to the end of the head or of the request. `used` becomes the number of consumed bytes. Returns an enum
 * uw_http1_reading, or the negated status of a refusal. */
int uw_http1_read(struct uw_http1_reader *reader, const char *bytes, size_t length, size_t *used);

#endif
