#include "log/line.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/utf8.h"

#define TIME_BYTES_MAX 32
#define NUMBER_DIGITS_MAX 20
#define WORD_BYTES 8
#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))
#define REPLACEMENT 0xfffd
#define BEYOND_BMP 0x10000

static bool is_plain(char c)
{
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

size_t uw_log_escape_text(const char *text, size_t length, char out[UW_LOG_ESCAPED_BYTES_MAX + 1])
{
    (void)length;
    snprintf(out, UW_LOG_ESCAPED_BYTES_MAX + 1, "\\x%02X", (unsigned char)*text);
    return 1;
}

/* The code point of a valid character. */
static unsigned code_point(const char *text, size_t length)
{
    unsigned point = length == 1 ? (unsigned char)*text : (unsigned char)*text & (0x7fu >> length);

    for (size_t i = 1; i < length; i++)
        point = point << 6 | ((unsigned char)text[i] & 0x3fu);
    return point;
}

size_t uw_log_escape_json(const char *text, size_t length, char out[UW_LOG_ESCAPED_BYTES_MAX + 1])
{
    size_t character = uw_utf8_character(text, length);
    unsigned point = character ? code_point(text, character) : REPLACEMENT;

    if (point < BEYOND_BMP)
        snprintf(out, UW_LOG_ESCAPED_BYTES_MAX + 1, "\\u%04x", point & 0xffff);
    else
        snprintf(out, UW_LOG_ESCAPED_BYTES_MAX + 1, "\\u%04x\\u%04x", 0xd7c0 + (point >> 10 & 0x7ff),
                 0xdc00 + (point & 0x3ff));
    return character ? character : 1;
}

/* Bit 7 of each byte that is zero is set, and maybe of bytes after it. */
static uint64_t zeros(uint64_t word)
{
    return (word - EACH_BYTE(1)) & ~word & EACH_BYTE(0x80);
}

/* Whether eight bytes are plain. */
static bool are_plain(const char *text)
{
    uint64_t word, controls;

    memcpy(&word, text, sizeof word);
    controls = (word - EACH_BYTE(' ')) & ~word & EACH_BYTE(0x80);
    return !((word & EACH_BYTE(0x80)) | controls | zeros(word ^ EACH_BYTE('"')) | zeros(word ^ EACH_BYTE('\\')) |
             zeros(word ^ EACH_BYTE(0x7f)));
}

/* Returns how many bytes at the start are plain. */
static size_t count_plain(const char *text, size_t length)
{
    size_t count = 0;

    while (length - count >= WORD_BYTES && are_plain(text + count))
        count += WORD_BYTES;
    while (count < length && is_plain(text[count]))
        count++;
    return count;
}

void uw_line_append_escaped(struct uw_line *line, struct uw_access_text text, size_t bytes_max, uw_log_escape *escape)
{
    size_t end = line->length + bytes_max;

    for (size_t at = 0; at < text.length && line->length < end;) {
        char out[UW_LOG_ESCAPED_BYTES_MAX + 1];
        size_t left = text.length - at, room = end - line->length;
        size_t plain = count_plain(text.bytes + at, left < room ? left : room);

        uw_line_append_bytes(line, text.bytes + at, plain);
        at += plain;
        if (at == text.length || plain == room)
            return;
        at += escape(text.bytes + at, text.length - at, out);
        if (line->length + strlen(out) > end)
            return;
        uw_line_append_text(line, out);
    }
}

void uw_line_append_number(struct uw_line *line, int64_t number, int digits)
{
    char text[NUMBER_DIGITS_MAX], *end = text + sizeof text, *at = end;
    uint64_t left = number > 0 ? (uint64_t)number : 0;

    for (; left > 0 || digits > 0; digits--) {
        *--at = (char)('0' + left % 10);
        left /= 10;
    }
    uw_line_append_bytes(line, at, (size_t)(end - at));
}

void uw_line_append_seconds(struct uw_line *line, int64_t ns)
{
    uw_line_append_number(line, ns / UW_NS_PER_SECOND, 1);
    uw_line_append_text(line, ".");
    uw_line_append_number(line, ns % UW_NS_PER_SECOND / UW_NS_PER_US, 6);
}

/* Each thread formats the time at most once a second. */
void uw_line_append_time(struct uw_line *line, time_t time, const char *format)
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
    uw_line_append_text(line, text);
}
