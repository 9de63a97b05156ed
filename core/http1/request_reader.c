#include "http1/request_reader.h"

#include <errno.h>
#include <string.h>

#include "base/fd_limit.h"
#include "http1/parser.h"
#include "server/server_context.h"

#define GATHERED_BYTES_MAX 16384 /* a larger piece of content needs no gathering */

void uw_http1_reader_begin(struct uw_http1_reader *reader, struct uw_request *request)
{
    reader->request = request;
    reader->in_body = false;
    uw_http_head_init(&request->head, &request->server_context->settings.http);
}

/* Decides how the content follows the head. */
static int end_head(struct uw_http1_reader *reader)
{
    const struct uw_http_head *head = &reader->request->head;

    if (!head->chunked && (!head->has_content_length || head->content_length == 0))
        return UW_HTTP1_COMPLETE;
    if (head->has_content_length && head->content_length > reader->request->server_context->settings.body_bytes_max)
        return -413;
    reader->body_left = head->content_length;
    uw_http_chunked_init(&reader->chunked);
    reader->in_body = true;
    return UW_HTTP1_BODY;
}

/* Keeps the beginning with the request line for the record of the refusal. */
static void keep_beginning(struct uw_request *request, const char *bytes, size_t length)
{
    request->bytes_length = (uint32_t)(length < sizeof request->inline_bytes ? length : sizeof request->inline_bytes);
    memcpy(request->inline_bytes, bytes, request->bytes_length);
}

static bool keep(struct uw_request *request, const char *bytes, size_t length)
{
    if (!uw_request_keep(request, bytes, length))
        return true;
    uw_server_context_report_error(request->server_context, UW_SYSTEM_ERROR_CONTENT, "memory", -ENOMEM);
    return false;
}

/* Parses the received bytes in place, and keeps only those of the head. */
static int read_head_at_once(struct uw_http1_reader *reader, const char *bytes, size_t length, size_t *used)
{
    struct uw_request *request = reader->request;
    int result = uw_http_parse(&request->head, bytes, length);

    *used = result > 0 ? (size_t)result : length;
    if (result < 0) {
        keep_beginning(request, bytes, length);
        return result;
    }
    if (!keep(request, bytes, *used))
        return -503;
    return result > 0 ? end_head(reader) : UW_HTTP1_MORE;
}

/* Continues a head that arrives in pieces, in the request's own memory. */
static int read_head_on(struct uw_http1_reader *reader, const char *bytes, size_t length, size_t *used)
{
    struct uw_request *request = reader->request;
    size_t before = request->bytes_length;
    int result;

    *used = length;
    if (!keep(request, bytes, length))
        return -503;
    result = uw_http_parse(&request->head, request->bytes, request->bytes_length);
    if (result <= 0)
        return result;
    request->bytes_length = (uint32_t)result;
    *used = (size_t)result - before;
    return end_head(reader);
}

/* Returns 0 or a negated status. */
static int append(struct uw_request *request, const char *data, size_t length)
{
    const struct uw_server_settings *settings = &request->server_context->settings;
    int error;

    if (request->body.length + length > settings->body_bytes_max)
        return -413;
    do
        error = uw_spooled_body_append(&request->body, data, length, request->head.content_length,
                                       settings->body_memory_bytes_max);
    while (uw_fd_limit_reached(error) && uw_server_context_free_descriptors(request->server_context));
    if (error)
        uw_server_context_report_error(request->server_context, UW_SYSTEM_ERROR_CONTENT, uw_spooled_body_folder(),
                                       error);
    return error ? -503 : 0;
}

static int read_sized(struct uw_http1_reader *reader, const char *bytes, size_t length, size_t *used)
{
    int refused;

    *used = length < reader->body_left ? length : (size_t)reader->body_left;
    refused = append(reader->request, bytes, *used);
    reader->body_left -= *used;
    if (refused)
        return refused;
    return reader->body_left == 0 ? UW_HTTP1_COMPLETE : UW_HTTP1_MORE;
}

/* Small pieces of content are appended together, because each append to a file is a system call. */
struct gathered {
    char bytes[GATHERED_BYTES_MAX];
    size_t length;
};

static int append_gathered(struct uw_request *request, struct gathered *gathered)
{
    size_t length = gathered->length;

    gathered->length = 0;
    return length ? append(request, gathered->bytes, length) : 0;
}

static int gather(struct uw_request *request, struct gathered *gathered, const char *data, size_t length)
{
    int refused = gathered->length + length > sizeof gathered->bytes ? append_gathered(request, gathered) : 0;

    if (refused)
        return refused;
    if (length >= sizeof gathered->bytes)
        return append(request, data, length);
    memcpy(gathered->bytes + gathered->length, data, length);
    gathered->length += length;
    return 0;
}

static int read_chunked(struct uw_http1_reader *reader, const char *bytes, size_t length, size_t *used)
{
    struct uw_http_chunked *chunked = &reader->chunked;
    struct gathered gathered;
    int refused = 0;

    gathered.length = 0;
    *used = 0;
    while (*used < length && !chunked->done && !refused) {
        const char *data;
        size_t data_length;
        int64_t read = uw_http_chunked_read(chunked, bytes + *used, length - *used, &data, &data_length);

        if (read < 0)
            return (int)read;
        *used += (size_t)read;
        refused = gather(reader->request, &gathered, data, data_length);
    }
    if (!refused)
        refused = append_gathered(reader->request, &gathered);
    if (refused)
        return refused;
    return chunked->done ? UW_HTTP1_COMPLETE : UW_HTTP1_MORE;
}

int uw_http1_read(struct uw_http1_reader *reader, const char *bytes, size_t length, size_t *used)
{
    const struct uw_request *request = reader->request;

    if (reader->in_body)
        return request->head.chunked ? read_chunked(reader, bytes, length, used)
                                     : read_sized(reader, bytes, length, used);
    if (request->bytes_length)
        return read_head_on(reader, bytes, length, used);
    return read_head_at_once(reader, bytes, length, used);
}
