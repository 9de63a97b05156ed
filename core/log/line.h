/* Builds a line of a log, with a newline and without a NUL. The caller ensures that the line fits. */
#ifndef UW_LOG_LINE_H
#define UW_LOG_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define UW_LOG_LINE_BYTES_MAX 4096 /* PIPE_BUF of Linux: writes of whole lines to a pipe are atomic */

#define UW_LOG_TIME_COMBINED "%d/%b/%Y:%H:%M:%S +0000"
#define UW_LOG_TIME_ISO "%Y-%m-%dT%H:%M:%SZ"

struct uw_access_text {
    const char *bytes;
    size_t length;
};

struct uw_line {
    char *bytes;
    size_t length;
};

/* Writes one non-plain character of `text` to `out`, escaped. Returns the number of bytes read from `text`. */
#define UW_LOG_ESCAPED_BYTES_MAX 12
typedef size_t uw_log_escape(const char *text, size_t length, char out[UW_LOG_ESCAPED_BYTES_MAX + 1]);

/* Escapes of quoted text, such as \x22, and of JSON, such as \u0022. The JSON form is valid for any bytes. */
uw_log_escape uw_log_escape_text, uw_log_escape_json;

static inline void uw_line_append_bytes(struct uw_line *line, const char *bytes, size_t length)
{
    memcpy(line->bytes + line->length, bytes, length);
    line->length += length;
}

static inline void uw_line_append_text(struct uw_line *line, const char *text)
{
    uw_line_append_bytes(line, text, strlen(text));
}

/* Escapes all but printable ASCII, and quotes and backslashes. Appends at most `bytes_max` bytes, and never a part of
 * an escape. */
void uw_line_append_escaped(struct uw_line *line, struct uw_access_text text, size_t bytes_max, uw_log_escape *escape);

/* Appends at least `digits` digits. */
void uw_line_append_number(struct uw_line *line, int64_t number, int digits);

/* Appends seconds with six digits after the point. */
void uw_line_append_seconds(struct uw_line *line, int64_t ns);

/* Appends the time in UTC. `format` is one of the constants above. */
void uw_line_append_time(struct uw_line *line, time_t time, const char *format);

#endif
