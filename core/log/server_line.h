/* Formats lines of the server's own log, as text or as JSON objects: time, process and message. */
#ifndef UW_LOG_SERVER_LINE_H
#define UW_LOG_SERVER_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "log/access_line.h"
#include "log/line.h"

#define UW_LOG_MESSAGE_BYTES_MAX (UW_LOG_LINE_BYTES_MAX - 128) /* the rest is cut off */

enum uw_log_form {
    UW_LOG_TEXT,
    UW_LOG_JSON,
};

/* Writes a line with the message and a newline. The message has no newline. Returns the length. */
size_t uw_server_line(char line[UW_LOG_LINE_BYTES_MAX], enum uw_log_form form, time_t time, const char *message);

/* Writes a line about a refused request. Returns the length. */
size_t uw_refused_line(char line[UW_LOG_LINE_BYTES_MAX], enum uw_log_form form, const struct uw_access_record *refusal);

/* Writes a line: `count` more refused requests have no line of their own. Returns the length. */
size_t uw_refusals_suppressed_line(char line[UW_LOG_LINE_BYTES_MAX], enum uw_log_form form, time_t time,
                                   uint64_t count);

#endif
