/* A response as it is written: the head into a chunk, then content that is copied there or lent. */
#ifndef UW_STATIC_RESPONSE_OUTPUT_H
#define UW_STATIC_RESPONSE_OUTPUT_H

#include "http/response_head.h"
#include "server/request.h"
#include "static/representation.h"

struct uw_response {
    struct uw_request *request;
    struct uw_chunk
        *chunk; /* NULL when memory is exhausted: the rest is dropped, and the connection closed at the end */
    struct uw_http_response head;
    int64_t content_bytes; /* of the whole content, for the access log */
};

/* Writes the status line, Date and, where it is not the default, Connection. */
void uw_response_begin(struct uw_response *response, struct uw_request *request, int status);

/* Bytes beyond the chunk's capacity go into another chunk. */
void uw_response_put(struct uw_response *response, const char *bytes, size_t length);

/* A header line. */
void uw_response_put_field(struct uw_response *response, const char *name, const char *value);

/* Content-Length, unless it is negative, and the end of the head. */
void uw_response_end_head(struct uw_response *response, int64_t content_length);

/* Adds a range of a representation as content: copied if it fits, else lent from its memory or its file. */
void uw_response_put_content(struct uw_response *response, struct uw_representation *representation, int64_t offset,
                             int64_t length);

/* Hands over the rest; the request no longer belongs to the caller. */
void uw_response_finish(struct uw_response *response);

#endif
