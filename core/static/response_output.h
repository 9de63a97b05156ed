/* Writes a response: the head into a chunk, then content that is copied into the chunk or lent to it. */
#ifndef UW_STATIC_RESPONSE_OUTPUT_H
#define UW_STATIC_RESPONSE_OUTPUT_H

#include "http/response_head.h"
#include "server/request.h"
#include "static/representation.h"

struct uw_response {
    struct uw_request *request;

    /* NULL without memory: the rest is dropped, and the connection is aborted at the end. */
    struct uw_chunk *chunk;
    struct uw_http_response head;
    int64_t content_bytes; /* number of bytes of the whole content, for the access log */
};

/* Writes the status line, Date, and Connection unless it has the default value. */
void uw_response_begin(struct uw_response *response, struct uw_request *request, int status);

/* Writes bytes to the head or the content. If they do not fit, the chunk is sent and another chunk is used. */
void uw_response_put(struct uw_response *response, const char *bytes, size_t length);

/* Writes a header line. */
void uw_response_put_field(struct uw_response *response, const char *name, const char *value);

/* Writes Content-Length, unless it is negative, and the end of the head. */
void uw_response_end_head(struct uw_response *response, int64_t content_length);

/* Adds a range of a representation as content. A range that fits is copied. Otherwise the representation's memory or
 * file is lent. */
void uw_response_put_content(struct uw_response *response, struct uw_representation *representation, int64_t offset,
                             int64_t length);

/* Sends the rest. The caller no longer owns the request. */
void uw_response_finish(struct uw_response *response);

#endif
