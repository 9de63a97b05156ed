#include "websocket/handshake.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "compression/deflate.h"
#include "http/field_cursor.h"
#include "websocket/accept_key.h"

#define VERSION "13"

static const struct uw_http_header *find(const struct uw_http_head *head, enum uw_http_field field)
{
    for (uint32_t i = 0; i < head->header_count; i++)
        if (uw_http_header(head, i)->field == field)
            return uw_http_header(head, i);
    return NULL;
}

/* Whether exactly one such field exists; `value` gets its value. */
static bool has_one(const struct uw_http_head *head, enum uw_http_field field, struct uw_http_slice *value)
{
    int count = 0;

    for (uint32_t i = 0; i < head->header_count; i++)
        if (uw_http_header(head, i)->field == field) {
            *value = uw_http_header(head, i)->value;
            count++;
        }
    return count == 1;
}

static bool is(const char *bytes, struct uw_http_slice slice, const char *text)
{
    return slice.length == strlen(text) && strncasecmp(bytes + slice.offset, text, slice.length) == 0;
}

/* 16 bytes in base64. */
static bool is_key(const char *bytes, struct uw_http_slice slice)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *key = bytes + slice.offset;

    if (slice.length != UW_WEBSOCKET_KEY_BYTES || memcmp(key + UW_WEBSOCKET_KEY_BYTES - 2, "==", 2) != 0)
        return false;
    for (size_t i = 0; i < UW_WEBSOCKET_KEY_BYTES - 2; i++)
        if (!memchr(digits, key[i], sizeof digits - 1))
            return false;
    return true;
}

/* Upgrade names it, among others perhaps (RFC 9110, section 7.8). */
static bool names_websocket(const struct uw_http_head *head, const char *bytes)
{
    const struct uw_http_header *upgrade = find(head, UW_FIELD_UPGRADE);
    struct uw_http_cursor cursor;

    if (!upgrade)
        return false;
    cursor = uw_http_cursor(bytes + upgrade->value.offset, upgrade->value.length);
    for (; uw_http_next_element(&cursor); uw_http_skip_element(&cursor))
        if (uw_http_skip_word(&cursor, "websocket") && uw_http_end_element(&cursor))
            return true;
    return false;
}

/* The version is checked elsewhere. */
static bool asks_for_websocket(const struct uw_http_head *head, const char *bytes)
{
    if (!head->upgrade || head->method != UW_METHOD_GET || head->version < UW_HTTP_1_1 || !uw_accept_key_is_possible())
        return false;
    return !head->chunked && !head->content_length && names_websocket(head, bytes);
}

static bool is_our_version(const struct uw_http_head *head, const char *bytes)
{
    struct uw_http_slice version;

    return has_one(head, UW_FIELD_SEC_WEBSOCKET_VERSION, &version) && is(bytes, version, VERSION);
}

bool uw_websocket_is_wanted(const struct uw_http_head *head, const char *bytes)
{
    struct uw_http_slice key;

    return asks_for_websocket(head, bytes) && is_our_version(head, bytes) &&
           has_one(head, UW_FIELD_SEC_WEBSOCKET_KEY, &key) && is_key(bytes, key);
}

bool uw_websocket_is_other_version(const struct uw_http_head *head, const char *bytes)
{
    return asks_for_websocket(head, bytes) && find(head, UW_FIELD_SEC_WEBSOCKET_VERSION) &&
           !is_our_version(head, bytes);
}

static int write_text(const struct uw_response_writer *writer, struct uw_chunk **chunk, enum uw_http_field field,
                      const char *value, size_t length)
{
    const char *name = uw_http_field_name(field);

    return writer->field(chunk, name, strlen(name), value, length);
}

int uw_websocket_write_version(const struct uw_response_writer *writer, struct uw_chunk **chunk)
{
    int error = write_text(writer, chunk, UW_FIELD_UPGRADE, "websocket", sizeof "websocket" - 1);

    return error ? error : write_text(writer, chunk, UW_FIELD_SEC_WEBSOCKET_VERSION, VERSION, sizeof VERSION - 1);
}

static int write_accept(const struct uw_response_writer *writer, struct uw_chunk **chunk,
                        const struct uw_http_head *head, const char *bytes)
{
    static const char name[] = "Sec-WebSocket-Accept";
    char accept[UW_WEBSOCKET_ACCEPT_BYTES];
    struct uw_http_slice key = {0, 0};

    if (!has_one(head, UW_FIELD_SEC_WEBSOCKET_KEY, &key))
        return -EINVAL;
    if (uw_accept_key(bytes + key.offset, accept))
        return -ENOSYS;
    return writer->field(chunk, name, sizeof name - 1, accept, sizeof accept);
}

static void read_offers(struct uw_deflate_terms *terms, const struct uw_http_head *head, const char *bytes)
{
    *terms = (struct uw_deflate_terms){.agreed = false};
    if (!uw_deflate_is_possible())
        return;
    for (uint32_t i = 0; i < head->header_count; i++)
        if (uw_http_header(head, i)->field == UW_FIELD_SEC_WEBSOCKET_EXTENSIONS)
            uw_extensions_read(terms, bytes + uw_http_header(head, i)->value.offset,
                               uw_http_header(head, i)->value.length);
}

int uw_websocket_accept(const struct uw_response_writer *writer, struct uw_chunk **chunk,
                        const struct uw_http_head *head, const char *bytes, struct uw_deflate_terms *terms)
{
    char answer[UW_EXTENSIONS_BYTES_MAX];
    size_t length;
    int error = write_text(writer, chunk, UW_FIELD_UPGRADE, "websocket", sizeof "websocket" - 1);

    if (!error)
        error = write_accept(writer, chunk, head, bytes);
    read_offers(terms, head, bytes);
    length = uw_extensions_answer(terms, answer);
    if (!error && length)
        error = write_text(writer, chunk, UW_FIELD_SEC_WEBSOCKET_EXTENSIONS, answer, length);
    return error;
}
