#include "server/text_answer.h"

#include <string.h>

#include "http/response_head.h"
#include "http/response_writer.h"
#include "server/server_context.h"

static int write_field(struct uw_chunk **chunk, const struct uw_response_writer *writer, const char *name,
                       const char *value)
{
    return value ? writer->field(chunk, name, strlen(name), value, strlen(value)) : 0;
}

static int write_answer(struct uw_chunk **chunk, const struct uw_response_writer *writer,
                        struct uw_http_response *response, const struct uw_text_answer *answer)
{
    int error = writer->status(chunk, response);

    if (!error)
        error = writer->date(chunk);
    if (!error)
        error = write_field(chunk, writer, "Content-Type", answer->content_type);
    if (!error)
        error = write_field(chunk, writer, "Cache-Control", answer->cache_control);
    if (!error)
        error = write_field(chunk, writer, "Allow", answer->allow);
    if (!error)
        error = writer->framing(chunk, response);
    if (!error)
        error = writer->connection(chunk, response);
    if (!error)
        error = writer->end_head(chunk);
    return error ? error : writer->piece(chunk, response, answer->text, answer->length);
}

void uw_answer_text(struct uw_request *request, const struct uw_text_answer *answer)
{
    struct uw_chunk *chunk = uw_chunk_take(&request->server_context->chunks);
    struct uw_http_response response = {
        .status = answer->status,
        .version = request->head.version,
        .to_head = request->head.method == UW_METHOD_HEAD,
        .has_length = true,
        .length = answer->length,
    };

    UW_ASSERT_OWNER(&request->server_context->loop);
    uw_http_frame(&response, uw_request_keeps_alive(request));
    if (write_answer(&chunk, request->writer, &response, answer)) {
        if (chunk)
            uw_chunk_free(chunk);
        uw_request_abort(request);
        return;
    }
    request->outcome.status = answer->status;
    request->outcome.content_bytes = response.to_head ? 0 : (int64_t)response.length;
    chunk->flags = UW_CHUNK_FINISH | (response.keep_alive ? 0 : UW_CHUNK_CLOSE);
    uw_request_send(request, chunk);
}
