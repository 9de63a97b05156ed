/* Formats lines of the access log, in the combined format or as JSON objects. Also formats lines about refused requests
 * for the server's own log. */
#ifndef UW_LOG_ACCESS_LINE_H
#define UW_LOG_ACCESS_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "http/protocol_version.h"

#define UW_ACCESS_LINE_BYTES_MAX 4096   /* PIPE_BUF of Linux: writes of whole lines to a pipe are atomic */
#define UW_ACCESS_TARGET_BYTES_MAX 2048 /* bytes including escapes. The rest is cut off */
#define UW_ACCESS_FIELD_BYTES_MAX 768   /* the same for Referer and for User-Agent */

enum uw_access_format {
    UW_ACCESS_COMBINED,
    UW_ACCESS_JSON,
    UW_ACCESS_REFUSED,
};

struct uw_access_text {
    const char *bytes;
    size_t length;
};

/* A request and its response */
struct uw_access_record {
    time_t time;
    const char *remote;                                        /* the client's address */
    struct uw_access_text method, target, referer, user_agent; /* length 0: absent */
    enum uw_http_version version;
    int status;
    int64_t bytes; /* bytes of the response content */
};

/* Writes the line with a newline, without a NUL. Control characters and delimiters are escaped. Returns the length. */
size_t uw_access_line(char line[UW_ACCESS_LINE_BYTES_MAX], enum uw_access_format format,
                      const struct uw_access_record *access);

/* Writes a line of the server's own log: `count` more refused requests have no line of their own. Returns the
 * length. */
size_t uw_refusals_suppressed_line(char line[UW_ACCESS_LINE_BYTES_MAX], time_t time, uint64_t count);

#endif
