#include "http1/writer.h"

#include <string.h>

#include "http/date.h"
#include "http/status.h"
#include "transport/chunk.h"

#define HEAD_BYTES_USUAL 512
#define SIZE_LINE_BYTES 20 /* for a chunk: 16 hexadecimal digits, CRLF, and reserve */
#define DECIMAL_BYTES_MAX 20
#define LINE_END "\r\n"

/* Returns the end of `chunk`, where the reserved space begins. */
static char *end_of(struct uw_chunk *chunk)
{
    return chunk->bytes + chunk->length;
}

static char *put(char *at, const char *bytes, size_t length)
{
    memcpy(at, bytes, length);
    return at + length;
}

#define PUT(at, literal) put(at, literal, sizeof(literal) - 1)

static int put_end(struct uw_chunk *chunk, const char *end)
{
    chunk->length = (size_t)(end - chunk->bytes);
    return 0;
}

static int write_status(struct uw_chunk **chunk, const struct uw_http_response *response)
{
    const char *reason = uw_http_reason(response->status);
    int error = uw_chunk_reserve(chunk, HEAD_BYTES_USUAL), status = response->status;
    char digits[] = {(char)('0' + status / 100), (char)('0' + status / 10 % 10), (char)('0' + status % 10), ' '};
    char *at;

    if (error)
        return error;
    at = PUT(end_of(*chunk), "HTTP/1.1 ");
    at = put(at, digits, sizeof digits);
    at = put(at, reason, strlen(reason));
    return put_end(*chunk, PUT(at, LINE_END));
}

static int write_field(struct uw_chunk **chunk, const char *name, size_t name_length, const char *value,
                       size_t value_length)
{
    int error = uw_http_field_check(name, name_length, value, value_length);
    char *at;

    if (!error)
        error = uw_chunk_reserve(chunk, name_length + value_length + 4);
    if (error)
        return error;
    at = put(end_of(*chunk), name, name_length);
    at = PUT(at, ": ");
    at = put(at, value, value_length);
    return put_end(*chunk, PUT(at, LINE_END));
}

static int write_date(struct uw_chunk **chunk)
{
    int error = uw_chunk_reserve(chunk, UW_RESPONSE_LINE_BYTES_MAX);
    char *at;

    if (error)
        return error;
    at = PUT(end_of(*chunk), "Date: ");
    at = put(at, uw_http_date_now(), UW_HTTP_DATE_BYTES);
    return put_end(*chunk, PUT(at, LINE_END));
}

static char *put_decimal(char *at, uint64_t number)
{
    char digits[DECIMAL_BYTES_MAX], *end = digits + sizeof digits, *start = end;

    do {
        *--start = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    return put(at, start, (size_t)(end - start));
}

static int write_framing(struct uw_chunk **chunk, const struct uw_http_response *response)
{
    int error = uw_chunk_reserve(chunk, UW_RESPONSE_LINE_BYTES_MAX);
    char *at;

    if (error)
        return error;
    at = end_of(*chunk);
    if (uw_http_tells_length(response))
        at = PUT(put_decimal(PUT(at, "Content-Length: "), response->length), LINE_END);
    else if (response->framing == UW_FRAMING_CHUNKED)
        at = PUT(at, "Transfer-Encoding: chunked\r\n");
    return put_end(*chunk, at);
}

/* HTTP/1.1 connections persist by default, HTTP/1.0 connections do not. */
static const char *connection_option(const struct uw_http_response *response)
{
    if (!response->keep_alive)
        return response->status == 101 ? "" : "close";
    return response->version >= UW_HTTP_1_1 ? "" : "keep-alive";
}

static int write_connection(struct uw_chunk **chunk, const struct uw_http_response *response)
{
    const char *option = connection_option(response);
    char *at;
    int error;

    if (!response->upgrade && !*option)
        return 0;
    error = uw_chunk_reserve(chunk, UW_RESPONSE_LINE_BYTES_MAX);
    if (error)
        return error;
    at = PUT(end_of(*chunk), "Connection: ");
    if (response->upgrade)
        at = PUT(at, "upgrade");
    if (response->upgrade && *option)
        at = PUT(at, ", ");
    at = put(at, option, strlen(option));
    return put_end(*chunk, PUT(at, LINE_END));
}

static int write_end_of_head(struct uw_chunk **chunk)
{
    return uw_chunk_append(chunk, LINE_END, sizeof LINE_END - 1);
}

static char *put_size_line(char *at, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    char line[SIZE_LINE_BYTES], *end = line + sizeof line, *start = end;

    *--start = '\n';
    *--start = '\r';
    do {
        *--start = digits[size % 16];
        size /= 16;
    } while (size);
    return put(at, start, (size_t)(end - start));
}

static char *put_piece(char *at, bool chunked, const char *bytes, size_t length)
{
    if (!chunked)
        return put(at, bytes, length);
    at = put_size_line(at, length);
    at = put(at, bytes, length);
    return PUT(at, LINE_END);
}

/* An empty chunk would be the last chunk, so empty pieces are skipped. */
static int write_piece(struct uw_chunk **chunk, struct uw_http_response *response, const char *bytes, size_t length)
{
    int error;

    if (length == 0 || response->framing == UW_FRAMING_NONE)
        return 0;
    error = uw_http_response_count(response, length);
    if (!error)
        error = uw_chunk_reserve(chunk, length + SIZE_LINE_BYTES + 2);
    if (error)
        return error;
    return put_end(*chunk, put_piece(end_of(*chunk), response->framing == UW_FRAMING_CHUNKED, bytes, length));
}

static int write_end(struct uw_chunk **chunk, const struct uw_http_response *response)
{
    static const char last_chunk[] = "0\r\n\r\n";
    int error = uw_http_response_check_whole(response);

    if (error || response->framing != UW_FRAMING_CHUNKED)
        return error;
    return uw_chunk_append(chunk, last_chunk, sizeof last_chunk - 1);
}

const struct uw_response_writer uw_http1_writer = {
    .status = write_status,
    .field = write_field,
    .date = write_date,
    .framing = write_framing,
    .connection = write_connection,
    .end_head = write_end_of_head,
    .piece = write_piece,
    .end = write_end,
};
