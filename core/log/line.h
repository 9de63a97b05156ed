/* Builds a line of a log. A line has its newline and no NUL. Its caller knows that it fits. */
#ifndef UW_LOG_LINE_H
#define UW_LOG_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define UW_LOG_LINE_BYTES_MAX 4096 /* PIPE_BUF of Linux: a pipe takes a write of whole lines as one */

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

/* Writes to `out` one character of `text` that must be escaped. Returns how many bytes of `text` it read. */
#define UW_LOG_ESCAPED_BYTES_MAX 12
typedef size_t uw_log_escape(const char *text, size_t length, char out[UW_LOG_ESCAPED_BYTES_MAX + 1]);

/* The escapes of quoted text: \x22; and those of JSON: ", which are valid whatever the bytes are. */
uw_log_escape uw_log_escape_text, uw_log_escape_json;

static inline void uw_line_put_bytes(struct uw_line *line, const char *bytes, size_t length)
{
    memcpy(line->bytes + line->length, bytes, length);
    line->length += length;
}

static inline void uw_line_put(struct uw_line *line, const char *text)
{
    uw_line_put_bytes(line, text, strlen(text));
}

/* Escapes all but printable ASCII, and quotes and backslashes. Writes at most `bytes_max` bytes, and never a part of an
 * escape. */
void uw_line_put_escaped(struct uw_line *line, struct uw_access_text text, size_t bytes_max, uw_log_escape *escape);

/* At least `digits` digits. */
void uw_line_put_number(struct uw_line *line, int64_t number, int digits);

/* Seconds with six digits after the point. */
void uw_line_put_seconds(struct uw_line *line, int64_t ns);

/* In UTC. `form` is one of the constants above. */
void uw_line_put_time(struct uw_line *line, time_t time, const char *form);

#endif
