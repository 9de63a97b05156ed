#include "static/response_output.h"

#include <string.h>

#include "http/response_writer.h"
#include "server/server.h"

static struct uw_chunk *take_chunk(const struct uw_request *request, size_t room)
{
    return room <= UW_CHUNK_SLAB_CAPACITY ? uw_chunk_take(&request->server_context->chunks) : uw_chunk_new(room);
}

static bool fits(const struct uw_chunk *chunk, size_t length)
{
    return !chunk->lender && length <= chunk->capacity - chunk->length;
}

static void reserve_bytes(struct uw_response *response, size_t length)
{
    if (!response->chunk || fits(response->chunk, length))
        return;
    uw_request_send(response->request, response->chunk);
    response->chunk = take_chunk(response->request, length);
}

void uw_response_put(struct uw_response *response, const char *bytes, size_t length)
{
    reserve_bytes(response, length);
    if (!response->chunk)
        return;
    memcpy(response->chunk->bytes + response->chunk->length, bytes, length);
    response->chunk->length += length;
}

/* After an error the rest of the response is dropped. */
static void drop_after_error(struct uw_response *response, int error)
{
    if (!error)
        return;
    uw_chunk_free(response->chunk);
    response->chunk = NULL;
}

static int write_first_lines(struct uw_response *response)
{
    const struct uw_response_writer *writer = response->request->writer;
    int error = writer->status(&response->chunk, &response->head);

    if (!error)
        error = writer->date(&response->chunk);
    return error ? error : writer->connection(&response->chunk, &response->head);
}

/* All content has a known length, so the connection may persist. */
void uw_response_begin(struct uw_response *response, struct uw_request *request, int status)
{
    *response = (struct uw_response){
        .request = request,
        .head = {.status = status,
                 .version = request->head.version,
                 .framing = UW_FRAMING_SIZED,
                 .keep_alive = uw_request_keeps_alive(request)},
        .chunk = take_chunk(request, 0),
    };
    if (response->chunk)
        drop_after_error(response, write_first_lines(response));
}

void uw_response_put_field(struct uw_response *response, const char *name, const char *value)
{
    size_t name_length = strlen(name), value_length = strlen(value);

    reserve_bytes(response, name_length + value_length + UW_RESPONSE_LINE_BYTES_MAX);
    if (response->chunk)
        drop_after_error(response,
                         response->request->writer->field(&response->chunk, name, name_length, value, value_length));
}

static int write_last_lines(struct uw_response *response)
{
    const struct uw_response_writer *writer = response->request->writer;
    int error = writer->framing(&response->chunk, &response->head);

    return error ? error : writer->end_head(&response->chunk);
}

void uw_response_end_head(struct uw_response *response, int64_t content_length)
{
    response->head.has_length = content_length >= 0;
    response->head.length = (uint64_t)content_length;
    reserve_bytes(response, 2 * UW_RESPONSE_LINE_BYTES_MAX);
    if (response->chunk)
        drop_after_error(response, write_last_lines(response));
}

static void release_representation(struct uw_chunk *chunk)
{
    uw_representation_release(chunk->lender);
}

static void lend_content(struct uw_chunk *chunk, struct uw_representation *representation, int64_t offset,
                         int64_t length)
{
    chunk->lender = uw_representation_retain(representation);
    chunk->release = release_representation;
    chunk->file = representation->fd;
    chunk->memory = representation->content;
    chunk->rest_offset = offset;
    chunk->rest_left = length;
}

void uw_response_put_content(struct uw_response *response, struct uw_representation *representation, int64_t offset,
                             int64_t length)
{
    response->content_bytes += length;
    if (length == 0)
        return;
    reserve_bytes(response, 0);
    if (!response->chunk)
        return;
    if (representation->content && fits(response->chunk, (size_t)length))
        uw_response_put(response, representation->content + offset, (size_t)length);
    else
        lend_content(response->chunk, representation, offset, length);
}

void uw_response_finish(struct uw_response *response)
{
    response->request->outcome.status = response->head.status;
    response->request->outcome.content_bytes = response->content_bytes;
    if (!response->chunk) {
        uw_request_abort(response->request);
        return;
    }
    response->chunk->flags = UW_CHUNK_FINISH | (response->head.keep_alive ? 0 : UW_CHUNK_CLOSE);
    uw_request_send(response->request, response->chunk);
}
