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

/* 400 bytes are enough for the rest of the line: time, address, numbers and punctuation. */
_Static_assert(METHOD_BYTES_MAX + UW_ACCESS_TARGET_BYTES_MAX + 2 * UW_ACCESS_FIELD_BYTES_MAX + 400 <=
                   UW_ACCESS_LINE_BYTES_MAX,
               "the longest line fits");

struct line {
    char *bytes;
    size_t length;
};

/* Writes one non-plain character of `text` to `out`, escaped if necessary. Returns the number of bytes read from
 * `text`. */
typedef size_t escape(const char *text, size_t length, char out[ESCAPED_BYTES_MAX + 1]);

static void append_text(struct line *line, const char *text)
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

/* Appends at most `bytes_max` bytes, and never a part of an escape. */
static void append_escaped(struct line *line, struct uw_access_text text, size_t bytes_max, escape *escape)
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
        append_text(line, out);
    }
}

/* Each thread formats the time at most once a second. */
static void append_time(struct line *line, time_t time, const char *format)
{
    static _Thread_local char text[TIME_BYTES_MAX];
    static _Thread_local const char *cached_format;
    static _Thread_local time_t cached_time;

    if (time != cached_time || format != cached_format) {
        struct tm parts = {0};

        (void)gmtime_r(&time, &parts);
        text[0] = '\0';
        (void)strftime(text, sizeof text, format, &parts);
        cached_time = time;
        cached_format = format;
    }
    append_text(line, text);
}

/* "-" stands for an absent value. */
static void append_combined_field(struct line *line, struct uw_access_text value)
{
    append_text(line, " \"");
    if (value.length > 0)
        append_escaped(line, value, UW_ACCESS_FIELD_BYTES_MAX, escape_combined);
    else
        append_text(line, "-");
    append_text(line, "\"");
}

/* Appends the part of the request line that has arrived. */
static void append_request_line(struct line *line, const struct uw_access_record *access, size_t target_bytes_max)
{
    if (access->method.length == 0)
        append_text(line, "-");
    append_escaped(line, access->method, METHOD_BYTES_MAX, escape_combined);
    if (access->target.length > 0)
        append_text(line, " ");
    append_escaped(line, access->target, target_bytes_max, escape_combined);
}

static void append_combined(struct line *line, const struct uw_access_record *access)
{
    const char *version = uw_http_version_digits(access->version);
    char numbers[64];

    append_text(line, access->remote);
    append_text(line, " - - [");
    append_time(line, access->time, "%d/%b/%Y:%H:%M:%S +0000");
    append_text(line, "] \"");
    append_request_line(line, access, UW_ACCESS_TARGET_BYTES_MAX);
    if (version) {
        append_text(line, " HTTP/");
        append_text(line, version);
    }
    snprintf(numbers, sizeof numbers, "\" %d %" PRId64, access->status, access->bytes);
    append_text(line, numbers);
    append_combined_field(line, access->referer);
    append_combined_field(line, access->user_agent);
    append_text(line, "\n");
}

/* An absent field is omitted. */
static void append_json_field(struct line *line, const char *name, struct uw_access_text value, size_t bytes_max)
{
    if (value.length == 0)
        return;
    append_text(line, ",\"");
    append_text(line, name);
    append_text(line, "\":\"");
    append_escaped(line, value, bytes_max, escape_json);
    append_text(line, "\"");
}

static void append_json(struct line *line, const struct uw_access_record *access)
{
    const char *version = uw_http_version_digits(access->version);
    char numbers[96];

    append_text(line, "{\"time\":\"");
    append_time(line, access->time, "%Y-%m-%dT%H:%M:%SZ");
    append_text(line, "\",\"remote\":\"");
    append_text(line, access->remote);
    append_text(line, "\"");
    append_json_field(line, "method", access->method, METHOD_BYTES_MAX);
    append_json_field(line, "target", access->target, UW_ACCESS_TARGET_BYTES_MAX);
    if (version) {
        append_text(line, ",\"version\":\"");
        append_text(line, version);
        append_text(line, "\"");
    }
    snprintf(numbers, sizeof numbers, ",\"status\":%d,\"bytes\":%" PRId64, access->status, access->bytes);
    append_text(line, numbers);
    append_json_field(line, "referer", access->referer, UW_ACCESS_FIELD_BYTES_MAX);
    append_json_field(line, "user_agent", access->user_agent, UW_ACCESS_FIELD_BYTES_MAX);
    append_text(line, "}\n");
}

/* Each line of the server's own log begins with this prefix. */
static void append_prefix(struct line *line, time_t time)
{
    char process[32];

    append_time(line, time, "%Y-%m-%dT%H:%M:%SZ");
    snprintf(process, sizeof process, " upwell[%d]: ", (int)getpid());
    append_text(line, process);
}

static void append_refused(struct line *line, const struct uw_access_record *access)
{
    char number[16];

    append_prefix(line, access->time);
    append_text(line, "refused ");
    append_text(line, access->remote);
    append_text(line, " \"");
    append_request_line(line, access, REFUSED_TARGET_BYTES_MAX);
    snprintf(number, sizeof number, "\" %d ", access->status);
    append_text(line, number);
    append_text(line, uw_http_reason(access->status));
    append_text(line, "\n");
}

size_t uw_refusals_suppressed_line(char bytes[UW_ACCESS_LINE_BYTES_MAX], time_t time, uint64_t count)
{
    struct line line = {bytes, 0};
    char text[128];

    append_prefix(&line, time);
    snprintf(text, sizeof text, "refused %" PRIu64 " more requests; the log lists only the first ones of a second\n",
             count);
    append_text(&line, text);
    return line.length;
}

size_t uw_access_line(char bytes[UW_ACCESS_LINE_BYTES_MAX], enum uw_access_format format,
                      const struct uw_access_record *access)
{
    struct line line = {bytes, 0};

    if (format == UW_ACCESS_JSON)
        append_json(&line, access);
    else if (format == UW_ACCESS_REFUSED)
        append_refused(&line, access);
    else
        append_combined(&line, access);
    return line.length;
}
