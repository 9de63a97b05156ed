/* Each protocol writes responses through such a table, so callers need not know the protocol. Each function appends to
 * `*chunk`, which may be NULL at first and may be replaced by a larger chunk. It returns 0, -ENOMEM or an error of
 * response_head.h; after an error the chunk is unchanged. The functions touch nothing else, so any thread may call
 * them. */
#ifndef UW_HTTP_RESPONSE_WRITER_H
#define UW_HTTP_RESPONSE_WRITER_H

#include "http/response_head.h"

struct uw_chunk;

#define UW_RESPONSE_LINE_BYTES_MAX 64 /* maximum that each call appends besides names, values and content */

struct uw_response_writer {
    /* The head: the status is first; fields, date, framing and connection follow in any order; the end is last. */
    int (*status)(struct uw_chunk **chunk, const struct uw_http_response *response);

    /* Checks the field too. */
    int (*field)(struct uw_chunk **chunk, const char *name, size_t name_length, const char *value, size_t value_length);
    int (*date)(struct uw_chunk **chunk);

    /* `framing` writes the fields that mark the content's end. `connection` writes whether the connection persists, if
     * the client cannot know this otherwise. */
    int (*framing)(struct uw_chunk **chunk, const struct uw_http_response *response);
    int (*connection)(struct uw_chunk **chunk, const struct uw_http_response *response);
    int (*end_head)(struct uw_chunk **chunk);

    /* Writes and counts a piece of the content. Writes nothing for a response without content. */
    int (*piece)(struct uw_chunk **chunk, struct uw_http_response *response, const char *bytes, size_t length);

    /* Ends the content, which must be complete. */
    int (*end)(struct uw_chunk **chunk, const struct uw_http_response *response);
};

#endif
