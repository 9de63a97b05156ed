#include "log/access_line.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "http/status.h"

#define METHOD_BYTES_MAX 32
#define REFUSED_TARGET_BYTES_MAX 200
#define TIME_BYTES_MAX 32
#define ESCAPED_BYTES_MAX 6

/* 400 bytes suffice for the rest of the line: time, address, numbers and punctuation. */
_Static_assert(METHOD_BYTES_MAX + UW_ACCESS_TARGET_BYTES_MAX + 2 * UW_ACCESS_FIELD_BYTES_MAX + 400 <=
                   UW_ACCESS_LINE_BYTES_MAX,
               "the longest line fits");

struct line {
    char *bytes;
    size_t length;
};

/* Writes to `out` one character of `text` that is not plain ASCII. Returns how many bytes of `text` it read. */
typedef size_t escape(const char *text, size_t length, char out[ESCAPED_BYTES_MAX + 1]);

static void put(struct line *line, const char *text)
{
    size_t length = strlen(text);

    memcpy(line->bytes + line->length, text, length);
    line->length += length;
}

static bool is_plain(char c)
{
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

static size_t escape_combined(const char *text, size_t length, char out[ESCAPED_BYTES_MAX + 1])
{
    (void)length;
    snprintf(out, ESCAPED_BYTES_MAX + 1, "\\x%02X", (unsigned char)*text);
    return 1;
}

static size_t escape_json(const char *text, size_t length, char out[ESCAPED_BYTES_MAX + 1])
{
    size_t character = uw_utf8_character(text, length);

    if (character == 0)
        snprintf(out, ESCAPED_BYTES_MAX + 1, "%s", UW_UTF8_REPLACEMENT);
    else if (character > 1)
        snprintf(out, ESCAPED_BYTES_MAX + 1, "%.*s", (int)character, text);
    else
        snprintf(out, ESCAPED_BYTES_MAX + 1, "\\u%04x", (unsigned)*text);
    return character > 0 ? character : 1;
}

/* Writes at most `bytes_max` bytes and never a part of an escape. */
static void put_escaped(struct line *line, struct uw_access_text text, size_t bytes_max, escape *escape)
{
    size_t end = line->length + bytes_max;

    for (size_t at = 0; at < text.length && line->length < end;) {
        char out[ESCAPED_BYTES_MAX + 1];

        if (is_plain(text.bytes[at])) {
            line->bytes[line->length++] = text.bytes[at++];
            continue;
        }
        at += escape(text.bytes + at, text.length - at, out);
        if (line->length + strlen(out) > end)
            return;
        put(line, out);
    }
}

/* Each thread renders the time once a second. */
static void put_time(struct line *line, time_t time, const char *form)
{
    static _Thread_local char text[TIME_BYTES_MAX];
    static _Thread_local const char *rendered_form;
    static _Thread_local time_t rendered;

    if (time != rendered || form != rendered_form) {
        struct tm parts = {0};

        (void)gmtime_r(&time, &parts);
        text[0] = '\0';
        (void)strftime(text, sizeof text, form, &parts);
        rendered = time;
        rendered_form = form;
    }
    put(line, text);
}

/* A hyphen stands for an absent value. */
static void put_combined_field(struct line *line, struct uw_access_text value)
{
    put(line, " \"");
    if (value.length > 0)
        put_escaped(line, value, UW_ACCESS_FIELD_BYTES_MAX, escape_combined);
    else
        put(line, "-");
    put(line, "\"");
}

/* Writes the part of the request line that has arrived. */
static void put_request(struct line *line, const struct uw_access_record *access, size_t target_bytes_max)
{
    if (access->method.length == 0)
        put(line, "-");
    put_escaped(line, access->method, METHOD_BYTES_MAX, escape_combined);
    if (access->target.length > 0)
        put(line, " ");
    put_escaped(line, access->target, target_bytes_max, escape_combined);
}

static void put_combined(struct line *line, const struct uw_access_record *access)
{
    const char *version = uw_http_version_digits(access->version);
    char numbers[64];

    put(line, access->remote);
    put(line, " - - [");
    put_time(line, access->time, "%d/%b/%Y:%H:%M:%S +0000");
    put(line, "] \"");
    put_request(line, access, UW_ACCESS_TARGET_BYTES_MAX);
    if (version) {
        put(line, " HTTP/");
        put(line, version);
    }
    snprintf(numbers, sizeof numbers, "\" %d %" PRId64, access->status, access->bytes);
    put(line, numbers);
    put_combined_field(line, access->referer);
    put_combined_field(line, access->user_agent);
    put(line, "\n");
}

/* An absent field is left out. */
static void put_json_field(struct line *line, const char *name, struct uw_access_text value, size_t bytes_max)
{
    if (value.length == 0)
        return;
    put(line, ",\"");
    put(line, name);
    put(line, "\":\"");
    put_escaped(line, value, bytes_max, escape_json);
    put(line, "\"");
}

static void put_json(struct line *line, const struct uw_access_record *access)
{
    const char *version = uw_http_version_digits(access->version);
    char numbers[96];

    put(line, "{\"time\":\"");
    put_time(line, access->time, "%Y-%m-%dT%H:%M:%SZ");
    put(line, "\",\"remote\":\"");
    put(line, access->remote);
    put(line, "\"");
    put_json_field(line, "method", access->method, METHOD_BYTES_MAX);
    put_json_field(line, "target", access->target, UW_ACCESS_TARGET_BYTES_MAX);
    if (version) {
        put(line, ",\"version\":\"");
        put(line, version);
        put(line, "\"");
    }
    snprintf(numbers, sizeof numbers, ",\"status\":%d,\"bytes\":%" PRId64, access->status, access->bytes);
    put(line, numbers);
    put_json_field(line, "referer", access->referer, UW_ACCESS_FIELD_BYTES_MAX);
    put_json_field(line, "user_agent", access->user_agent, UW_ACCESS_FIELD_BYTES_MAX);
    put(line, "}\n");
}

/* Every record of the server's own log begins with this. */
static void put_origin(struct line *line, time_t time)
{
    char process[32];

    put_time(line, time, "%Y-%m-%dT%H:%M:%SZ");
    snprintf(process, sizeof process, " upwell[%d]: ", (int)getpid());
    put(line, process);
}

static void put_refused(struct line *line, const struct uw_access_record *access)
{
    char number[16];

    put_origin(line, access->time);
    put(line, "refused ");
    put(line, access->remote);
    put(line, " \"");
    put_request(line, access, REFUSED_TARGET_BYTES_MAX);
    snprintf(number, sizeof number, "\" %d ", access->status);
    put(line, number);
    put(line, uw_http_reason(access->status));
    put(line, "\n");
}

size_t uw_refusals_left_out_line(char bytes[UW_ACCESS_LINE_BYTES_MAX], time_t time, uint64_t count)
{
    struct line line = {bytes, 0};
    char text[64];

    put_origin(&line, time);
    snprintf(text, sizeof text, "refused %" PRIu64 " more requests\n", count);
    put(&line, text);
    return line.length;
}

size_t uw_access_line(char bytes[UW_ACCESS_LINE_BYTES_MAX], enum uw_access_format format,
                      const struct uw_access_record *access)
{
    struct line line = {bytes, 0};

    if (format == UW_ACCESS_JSON)
        put_json(&line, access);
    else if (format == UW_ACCESS_REFUSED)
        put_refused(&line, access);
    else
        put_combined(&line, access);
    return line.length;
}
