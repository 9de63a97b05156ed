/* A protocol's table of functions that write responses, so callers need not know the protocol. Each function appends to
 * `*chunk`, which may be NULL initially. It may replace `*chunk` by a larger chunk. It returns 0, -ENOMEM or a negated
 * error of response_head.h. After an error the chunk is unchanged. The functions use no other state, so any thread may
 * call them. */
#ifndef UW_HTTP_RESPONSE_WRITER_H
#define UW_HTTP_RESPONSE_WRITER_H

#include "http/response_head.h"

struct uw_chunk;

#define UW_RESPONSE_LINE_BYTES_MAX 64 /* bytes that each call appends at most, besides names, values and content */

struct uw_response_writer {
    /* The head: `status` is first. `field`, `date`, `framing` and `connection` follow in any order. `end_head` is
     * last. */
    int (*status)(struct uw_chunk **chunk, const struct uw_http_response *response);

    /* Checks the syntax of the field before writing it. */
    int (*field)(struct uw_chunk **chunk, const char *name, size_t name_length, const char *value, size_t value_length);
    int (*date)(struct uw_chunk **chunk);

    /* `framing` writes the fields that mark the end of the content. `connection` writes the Connection field, unless
     * its absence means the same. */
    int (*framing)(struct uw_chunk **chunk, const struct uw_http_response *response);
    int (*connection)(struct uw_chunk **chunk, const struct uw_http_response *response);
    int (*end_head)(struct uw_chunk **chunk);

    /* Writes and counts a piece of the content. Writes nothing for a response without content. */
    int (*piece)(struct uw_chunk **chunk, struct uw_http_response *response, const char *bytes, size_t length);

    /* Writes the end of the content. The content must be complete. */
    int (*end)(struct uw_chunk **chunk, const struct uw_http_response *response);
};

#endif
