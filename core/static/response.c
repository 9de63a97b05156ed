#include "static/response.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "http/date.h"
#include "http/status.h"
#include "server/server.h"

#define NUMBER_BYTES_MAX 24

static const char version[] = "HTTP/1.1 ";
static const char date_name[] = "Date: ";
static const char connection_close[] = "Connection: close\r\n";
static const char connection_keep_alive[] = "Connection: keep-alive\r\n";

static struct uw_chunk *take_chunk(const struct uw_request *request, size_t room)
{
    return room <= UW_CHUNK_SLAB_CAPACITY ? uw_chunk_take(&request->service->chunks) : uw_chunk_new(room);
}

static bool fits(const struct uw_chunk *chunk, size_t length)
{
    return !chunk->lender && length <= chunk->capacity - chunk->length;
}

static void reserve(struct uw_response *response, size_t length)
{
    if (!response->chunk || fits(response->chunk, length))
        return;
    uw_request_send(response->request, response->chunk);
    response->chunk = take_chunk(response->request, length);
}

void uw_response_put(struct uw_response *response, const char *bytes, size_t length)
{
    reserve(response, length);
    if (!response->chunk)
        return;
    memcpy(response->chunk->bytes + response->chunk->length, bytes, length);
    response->chunk->length += length;
}

static void put_text(struct uw_response *response, const char *text)
{
    uw_response_put(response, text, strlen(text));
}

static void put_status(struct uw_response *response, int status)
{
    char digits[] = {(char)('0' + status / 100), (char)('0' + status / 10 % 10), (char)('0' + status % 10), ' '};

    uw_response_put(response, version, sizeof version - 1);
    uw_response_put(response, digits, sizeof digits);
    put_text(response, uw_http_reason(status));
    uw_response_put(response, "\r\n", 2);
}

/* HTTP/1.1 connections stay open unless it is said otherwise, earlier ones the other way round. */
static void put_connection(struct uw_response *response)
{
    if (!response->keep_alive)
        uw_response_put(response, connection_close, sizeof connection_close - 1);
    else if (response->request->head.version_minor == 0)
        uw_response_put(response, connection_keep_alive, sizeof connection_keep_alive - 1);
}

void uw_response_begin(struct uw_response *response, struct uw_request *request, int status)
{
    *response =
        (struct uw_response){.request = request, .status = status, .keep_alive = uw_request_keeps_alive(request)};
    response->chunk = take_chunk(request, 0);
    put_status(response, status);
    uw_response_put(response, date_name, sizeof date_name - 1);
    uw_response_put(response, uw_http_date_now(), UW_HTTP_DATE_BYTES);
    uw_response_put(response, "\r\n", 2);
    put_connection(response);
}

void uw_response_put_field(struct uw_response *response, const char *name, const char *value)
{
    put_text(response, name);
    uw_response_put(response, ": ", 2);
    put_text(response, value);
    uw_response_put(response, "\r\n", 2);
}

void uw_response_end_head(struct uw_response *response, int64_t content_length)
{
    char number[NUMBER_BYTES_MAX];

    snprintf(number, sizeof number, "%" PRId64, content_length);
    uw_response_put_field(response, "Content-Length", number);
    uw_response_put(response, "\r\n", 2);
}

static void release_representation(struct uw_chunk *chunk)
{
    uw_representation_release(chunk->lender);
}

static void lend(struct uw_chunk *chunk, struct uw_representation *representation, int64_t offset, int64_t length)
{
    chunk->lender = uw_representation_hold(representation);
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
    reserve(response, 0);
    if (!response->chunk)
        return;
    if (representation->content && fits(response->chunk, (size_t)length))
        uw_response_put(response, representation->content + offset, (size_t)length);
    else
        lend(response->chunk, representation, offset, length);
}

void uw_response_finish(struct uw_response *response)
{
    if (!response->chunk) {
        uw_request_abort(response->request);
        return;
    }
    response->chunk->flags = UW_CHUNK_FINISH | (response->keep_alive ? 0 : UW_CHUNK_CLOSE);
    uw_request_send(response->request, response->chunk);
}
