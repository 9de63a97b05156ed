#include "server/access_line.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define METHOD_BYTES_MAX 32
#define TIME_BYTES_MAX 32
#define ESCAPED_BYTES_MAX 6

/* The rest of the line: time, address, numbers and punctuation. */
_Static_assert(METHOD_BYTES_MAX + UW_ACCESS_TARGET_BYTES_MAX + 2 * UW_ACCESS_FIELD_BYTES_MAX + 400 <=
                   UW_ACCESS_LINE_BYTES_MAX,
               "the longest line fits");

struct line {
    char *bytes;
    size_t length;
};

/* Writes a character of `text` that is not plain ASCII to `out`. Returns how many of its bytes were read. */
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

/* At most `bytes_max` bytes; an escape is not cut in two. */
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

/* Rendered once a second by each thread. */
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

/* A hyphen stands for what is absent. */
static void put_combined_field(struct line *line, struct uw_access_text value)
{
    put(line, " \"");
    if (value.length > 0)
        put_escaped(line, value, UW_ACCESS_FIELD_BYTES_MAX, escape_combined);
    else
        put(line, "-");
    put(line, "\"");
}

static void put_combined(struct line *line, const struct uw_access *access)
{
    char numbers[64];

    put(line, access->remote);
    put(line, " - - [");
    put_time(line, access->time, "%d/%b/%Y:%H:%M:%S +0000");
    put(line, "] \"");
    put_escaped(line, access->method, METHOD_BYTES_MAX, escape_combined);
    put(line, " ");
    put_escaped(line, access->target, UW_ACCESS_TARGET_BYTES_MAX, escape_combined);
    snprintf(numbers, sizeof numbers, " HTTP/1.%d\" %d %" PRId64, access->version_minor, access->status, access->bytes);
    put(line, numbers);
    put_combined_field(line, access->referer);
    put_combined_field(line, access->user_agent);
    put(line, "\n");
}

/* Absent fields are left out. */
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

static void put_json(struct line *line, const struct uw_access *access)
{
    char numbers[96];

    put(line, "{\"time\":\"");
    put_time(line, access->time, "%Y-%m-%dT%H:%M:%SZ");
    put(line, "\",\"remote\":\"");
    put(line, access->remote);
    put(line, "\"");
    put_json_field(line, "method", access->method, METHOD_BYTES_MAX);
    put_json_field(line, "target", access->target, UW_ACCESS_TARGET_BYTES_MAX);
    snprintf(numbers, sizeof numbers, ",\"version\":\"1.%d\",\"status\":%d,\"bytes\":%" PRId64, access->version_minor,
             access->status, access->bytes);
    put(line, numbers);
    put_json_field(line, "referer", access->referer, UW_ACCESS_FIELD_BYTES_MAX);
    put_json_field(line, "user_agent", access->user_agent, UW_ACCESS_FIELD_BYTES_MAX);
    put(line, "}\n");
}

size_t uw_access_line(char bytes[UW_ACCESS_LINE_BYTES_MAX], enum uw_access_format format,
                      const struct uw_access *access)
{
    struct line line = {bytes, 0};

    if (format == UW_ACCESS_JSON)
        put_json(&line, access);
    else
        put_combined(&line, access);
    return line.length;
}
