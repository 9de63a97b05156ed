#include "http1/special_response.h"

#include <stdio.h>
#include <string.h>

#include "http/status.h"
#include "http1/writer.h"
#include "transport/chunk.h"
#include "websocket/handshake.h"

#define TEXT_BYTES_MAX 64

/* Drops a chunk that could not be written completely. */
static struct uw_chunk *whole(struct uw_chunk *chunk, int error)
{
    if (!error)
        return chunk;
    if (chunk)
        uw_chunk_free(chunk);
    return NULL;
}

static int write_refusal(struct uw_chunk **chunk, struct uw_http_response *response, const char *text, size_t length)
{
    static const char name[] = "Content-Type", type[] = "text/plain";
    const struct uw_response_writer *writer = &uw_http1_writer;
    int error = writer->status(chunk, response);

    if (!error)
        error = writer->date(chunk);
    if (!error)
        error = writer->field(chunk, name, sizeof name - 1, type, sizeof type - 1);
    if (!error && response->upgrade)
        error = uw_websocket_write_version(writer, chunk);
    if (!error)
        error = writer->framing(chunk, response);
    if (!error)
        error = writer->connection(chunk, response);
    if (!error)
        error = writer->end_head(chunk);
    return error ? error : writer->piece(chunk, response, text, length);
}

struct uw_chunk *uw_http1_refusal(int status, size_t *content_bytes)
{
    struct uw_http_response response = {
        .status = status, .version = UW_HTTP_1_1, .has_length = true, .upgrade = status == 426};
    struct uw_chunk *chunk = NULL;
    char text[TEXT_BYTES_MAX];
    int error;

    response.length = *content_bytes = (size_t)snprintf(text, sizeof text, "%d %s\n", status, uw_http_reason(status));
    uw_http_frame(&response, false);
    error = write_refusal(&chunk, &response, text, *content_bytes);
    return whole(chunk, error);
}

struct uw_chunk *uw_http1_continue(void)
{
    static const struct uw_http_response response = {.status = 100, .version = UW_HTTP_1_1};
    struct uw_chunk *chunk = NULL;
    int error = uw_http1_writer.status(&chunk, &response);

    if (!error)
        error = uw_http1_writer.end_head(&chunk);
    return whole(chunk, error);
}
