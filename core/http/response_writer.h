/* How a protocol writes responses: one table a protocol, so that nobody who answers knows which it is. Each function
 * appends to `*chunk`, which grows and then is another one, and may be NULL before; and returns 0, -ENOMEM or what
 * response_head.h has, after which the chunk holds no more than before. They touch nothing else: any thread. */
#ifndef UW_HTTP_RESPONSE_WRITER_H
#define UW_HTTP_RESPONSE_WRITER_H

#include "http/response_head.h"

struct uw_chunk;

#define UW_RESPONSE_LINE_BYTES_MAX 64 /* at most appended by each beside names, values and content */

struct uw_response_writer {
    /* The head: the status comes first; fields, date, framing and connection in any order; then the end. */
    int (*status)(struct uw_chunk **chunk, const struct uw_http_response *response);

    /* Checks it, too. */
    int (*field)(struct uw_chunk **chunk, const char *name, size_t name_length, const char *value, size_t value_length);
    int (*date)(struct uw_chunk **chunk);

    /* What tells the client where the content ends; and whether the connection does, where that is not understood. */
    int (*framing)(struct uw_chunk **chunk, const struct uw_http_response *response);
    int (*connection)(struct uw_chunk **chunk, const struct uw_http_response *response);
    int (*end_head)(struct uw_chunk **chunk);

    /* A piece of the content, counted; nothing of a response that has none. */
    int (*piece)(struct uw_chunk **chunk, struct uw_http_response *response, const char *bytes, size_t length);

    /* The end of the content, which must be whole. */
    int (*end)(struct uw_chunk **chunk, const struct uw_http_response *response);
};

#endif
