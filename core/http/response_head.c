#include "http/response_head.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "http/byte_class.h"

#define STATUS_MIN 100
#define STATUS_MAX 999

int uw_http_response_begin(struct uw_http_response *response, const struct uw_http_head *request, int status)
{
    *response = (struct uw_http_response){
        .status = status,
        .version = request->version,
        .to_head = request->method == UW_METHOD_HEAD,
        .tunnel = request->method == UW_METHOD_CONNECT && status / 100 == 2,
    };
    if (status < STATUS_MIN || status > STATUS_MAX)
        return -UW_ESTATUS;
    if (status == 101 && request->version < UW_HTTP_1_1) /* HTTP/1.0 has no Upgrade: RFC 9110, section 7.8 */
        return -UW_EINFORMATIONAL;
    return status < 200 && status != 101 ? -UW_EINFORMATIONAL : 0;
}

static bool all_bytes_are(const char *bytes, size_t length, uint8_t class)
{
    for (size_t i = 0; i < length; i++)
        if (!uw_http_byte_is(bytes[i], class))
            return false;
    return true;
}

int uw_http_field_check(const char *name, size_t name_length, const char *value, size_t value_length)
{
    if (name_length == 0 || !all_bytes_are(name, name_length, UW_BYTE_TOKEN))
        return -UW_EFIELD_NAME;
    return all_bytes_are(value, value_length, UW_BYTE_VALUE) ? 0 : -UW_EFIELD_VALUE;
}

/* A check of the length is cheap and excludes most names. */
enum uw_http_field uw_http_noted_field(const char *name, size_t length)
{
    enum uw_http_field field;

    if (length != sizeof "Date" - 1 && length != sizeof "Connection" - 1 && length != sizeof "Content-Length" - 1 &&
        length != sizeof "Transfer-Encoding" - 1)
        return UW_FIELD_OTHER;
    field = uw_http_field_find(name, length);
    return field == UW_FIELD_DATE || field == UW_FIELD_CONNECTION || field == UW_FIELD_CONTENT_LENGTH ||
                   field == UW_FIELD_TRANSFER_ENCODING
               ? field
               : UW_FIELD_OTHER;
}

/* Returns true if a list of tokens contains `token`, compared case-insensitively. */
static bool list_contains(const char *list, size_t length, const char *token)
{
    const char *at = list, *end = list + length;

    while (at < end) {
        const char *start = at;

        while (at < end && uw_http_byte_is(*at, UW_BYTE_TOKEN))
            at++;
        if ((size_t)(at - start) == strlen(token) && strncasecmp(start, token, strlen(token)) == 0)
            return true;
        at += at < end;
    }
    return false;
}

static int parse_length(const char *text, size_t text_length, uint64_t *length)
{
    *length = 0;
    for (size_t i = 0; i < text_length; i++) {
        if (text[i] < '0' || text[i] > '9' || *length > (UINT64_MAX - 9) / 10)
            return -UW_ELENGTH;
        *length = *length * 10 + (uint64_t)(text[i] - '0');
    }
    return text_length == 0 ? -UW_ELENGTH_EMPTY : 0;
}

/* RFC 9112, section 6.1: a response that cannot have content has no transfer coding either. */
static int store_coding(struct uw_http_response *response)
{
    if (response->status < 200 || response->status == 204 || response->tunnel)
        return 1;
    if (response->version < UW_HTTP_1_1)
        return -UW_ECODING;
    response->has_coding = true;
    return 0;
}

static int store_length(struct uw_http_response *response, const char *text, size_t length)
{
    int error = parse_length(text, length, &response->length);

    response->has_length = true;
    return error ? error : 1;
}

/* The server itself writes the Connection field. The application's "upgrade" belongs to its Upgrade field (RFC 9110,
 * section 7.8). */
static int store_connection(struct uw_http_response *response, const char *list, size_t length)
{
    response->close |= list_contains(list, length, "close");
    response->upgrade |= list_contains(list, length, "upgrade");
    return 1;
}

int uw_http_response_note(struct uw_http_response *response, enum uw_http_field field, const char *list, size_t length)
{
    switch (field) {
    case UW_FIELD_CONNECTION:
        return store_connection(response, list, length);
    case UW_FIELD_CONTENT_LENGTH:
        return store_length(response, list, length);
    case UW_FIELD_TRANSFER_ENCODING:
        return store_coding(response);
    case UW_FIELD_DATE:
        response->has_date = true;
        return 0;
    default:
        return 0;
    }
}

int uw_http_response_set_length(struct uw_http_response *response, uint64_t length)
{
    if (response->has_length && response->length != length && uw_http_frames_content(response)) {
        response->written = length; /* the error's text shows this length */
        return -UW_ELENGTH_OTHER;
    }
    if (!response->has_length)
        response->length = length;
    response->has_length = true;
    return 0;
}

int uw_http_response_count(struct uw_http_response *response, size_t length)
{
    if (response->framing == UW_FRAMING_SIZED && length > response->length - response->written)
        return -UW_ECONTENT_LONGER;
    response->written += length;
    return 0;
}

int uw_http_response_check_whole(const struct uw_http_response *response)
{
    return response->framing == UW_FRAMING_SIZED && response->written < response->length ? -UW_ECONTENT_SHORTER : 0;
}

int uw_http_response_error_text(const struct uw_http_response *response, int error, const char *subject, char *text,
                                size_t capacity)
{
    switch (-error) {
    case UW_ESTATUS:
        return snprintf(text, capacity, "the application returned status %d; a status must be from %d to %d",
                        response->status, STATUS_MIN, STATUS_MAX);
    case UW_EINFORMATIONAL:
        return snprintf(text, capacity, "the application returned the informational status %d; return a final status",
                        response->status);
    case UW_EFIELD_NAME:
        return snprintf(text, capacity,
                        "the server rejects response header %s: HTTP forbids a character of the name; use letters, "
                        "digits and hyphens",
                        subject);
    case UW_EFIELD_VALUE:
        return snprintf(
            text, capacity,
            "the server rejects response header %s: the value contains CR, LF, NUL or another control byte; remove it",
            subject);
    case UW_ELENGTH:
        return snprintf(text, capacity, "the response header content-length must be a number of bytes, not %s",
                        subject);
    case UW_ELENGTH_EMPTY:
        return snprintf(text, capacity,
                        "the response header content-length is empty; set a number of bytes, or remove the header");
    case UW_ELENGTH_OTHER:
        return snprintf(text, capacity,
                        "the response says content-length %" PRIu64 ", but its body has %" PRIu64
                        " bytes; correct the header, or leave it out",
                        response->length, response->written);
    case UW_ECODING:
        return snprintf(
            text, capacity,
            "the response has a transfer-encoding, which HTTP/1.0 does not support; the application must not set it");
    case UW_ECONTENT_LONGER:
        return snprintf(text, capacity,
                        "the response says content-length %" PRIu64
                        ", but its body is longer; correct the header, or leave it out",
                        response->length);
    case UW_ECONTENT_SHORTER:
        return snprintf(text, capacity,
                        "the response says content-length %" PRIu64 ", but its body has only %" PRIu64
                        " bytes; correct the header, or leave it out",
                        response->length, response->written);
    default:
        return snprintf(text, capacity, "%s", strerror(-error));
    }
}
