#include "server/health.h"

#include <string.h>

#include "http/response_head.h"
#include "http/response_writer.h"
#include "server/server_context.h"

#define OK_TEXT "ok\n"
#define DRAINING_TEXT "draining\n"

bool uw_health_is_on(const struct uw_server_settings *settings)
{
    return *settings->health_path || *settings->ready_path;
}

static bool is_get(const struct uw_request *request)
{
    return request->head.method == UW_METHOD_GET || request->head.method == UW_METHOD_HEAD;
}

static bool has_path(const struct uw_request *request, const char *path)
{
    struct uw_http_slice asked = request->head.path;

    return *path && asked.length == strlen(path) && memcmp(uw_request_text(request, asked), path, asked.length) == 0;
}

/* Returns the reason against new clients, or NULL. */
static const char *reason_against_clients(const struct uw_server_context *server_context)
{
    return atomic_load(&server_context->drain_announced) ? DRAINING_TEXT : NULL;
}

static int write_field(struct uw_chunk **chunk, const struct uw_response_writer *writer, const char *name,
                       const char *value)
{
    return writer->field(chunk, name, strlen(name), value, strlen(value));
}

static int write_answer(struct uw_chunk **chunk, const struct uw_response_writer *writer,
                        struct uw_http_response *response, const char *text)
{
    int error = writer->status(chunk, response);

    if (!error)
        error = writer->date(chunk);
    if (!error)
        error = write_field(chunk, writer, "Content-Type", "text/plain");
    if (!error)
        error = write_field(chunk, writer, "Cache-Control", "no-store");
    if (!error)
        error = writer->framing(chunk, response);
    if (!error)
        error = writer->connection(chunk, response);
    if (!error)
        error = writer->end_head(chunk);
    return error ? error : writer->piece(chunk, response, text, strlen(text));
}

static void answer(struct uw_request *request, int status, const char *text)
{
    struct uw_chunk *chunk = uw_chunk_take(&request->server_context->chunks);
    struct uw_http_response response = {
        .status = status,
        .version = request->head.version,
        .to_head = request->head.method == UW_METHOD_HEAD,
        .has_length = true,
        .length = strlen(text),
    };

    uw_http_frame(&response, uw_request_keeps_alive(request));
    if (write_answer(&chunk, request->writer, &response, text)) {
        if (chunk)
            uw_chunk_free(chunk);
        uw_request_abort(request);
        return;
    }
    request->outcome.status = status;
    request->outcome.content_bytes = response.to_head ? 0 : (int64_t)response.length;
    chunk->flags = UW_CHUNK_FINISH | (response.keep_alive ? 0 : UW_CHUNK_CLOSE);
    uw_request_send(request, chunk);
}

static void answer_readiness(struct uw_request *request)
{
    const char *reason = reason_against_clients(request->server_context);

    answer(request, reason ? 503 : 200, reason ? reason : OK_TEXT);
}

bool uw_health_try(struct uw_request *request)
{
    const struct uw_server_settings *settings = &request->server_context->settings;

    UW_ASSERT_OWNER(&request->server_context->loop);
    if (!is_get(request))
        return false;
    if (has_path(request, settings->health_path))
        answer(request, 200, OK_TEXT);
    else if (has_path(request, settings->ready_path))
        answer_readiness(request);
    else
        return false;
    return true;
}
