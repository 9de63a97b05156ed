/* From bytes to one request of HTTP/1.1: its head, then its content, by length or in chunks. */
#ifndef UW_HTTP1_READER_H
#define UW_HTTP1_READER_H

#include "http1/chunked.h"
#include "server/request.h"

struct uw_http1_reader {
    struct uw_request *request;
    bool in_body;
    uint64_t body_left;             /* of a content with Content-Length */
    struct uw_http_chunked chunked; /* of one without */
};

enum uw_http1_reading {
    UW_HTTP1_MORE = 0,     /* bytes are needed */
    UW_HTTP1_BODY = 1,     /* the head is complete, and content follows */
    UW_HTTP1_COMPLETE = 2, /* the request is */
};

/* Begins with a request that has no bytes yet. */
void uw_http1_reader_begin(struct uw_http1_reader *reader, struct uw_request *request);

/* Reads on, at most to the end of the head or of the request; `used` becomes how many of `length` bytes belong to it.
 * Returns an enum uw_http1_reading, or the negated status with which the request is to be refused. */
int uw_http1_read(struct uw_http1_reader *reader, const char *bytes, size_t length, size_t *used);

#endif
