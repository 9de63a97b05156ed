/* A line of the access log: in the combined format that log analysers read, or as a JSON object; or one of the server's
 * own log, about a request that was refused. */
#ifndef UW_LOG_ACCESS_LINE_H
#define UW_LOG_ACCESS_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define UW_ACCESS_LINE_BYTES_MAX 4096   /* PIPE_BUF of Linux: a write of whole lines to a pipe is not torn */
#define UW_ACCESS_TARGET_BYTES_MAX 2048 /* as written, escapes included; the rest is cut off */
#define UW_ACCESS_FIELD_BYTES_MAX 768   /* likewise, of Referer and of User-Agent */

enum uw_access_format {
    UW_ACCESS_COMBINED,
    UW_ACCESS_JSON,
    UW_ACCESS_REFUSED,
};

struct uw_access_text {
    const char *bytes;
    size_t length;
};

/* A request and its response. */
struct uw_access {
    time_t time;
    const char *remote;                                        /* address */
    struct uw_access_text method, target, referer, user_agent; /* length 0: there is none */
    int version_minor;                                         /* -1: unknown */
    int status;
    int64_t bytes; /* of content */
};

/* Writes the line with its newline, without a NUL. What could end a field or a line early, or is a control character,
 * is escaped. Returns the length. */
size_t uw_access_line(char line[UW_ACCESS_LINE_BYTES_MAX], enum uw_access_format format,
                      const struct uw_access *access);

/* Likewise, a line of the server's own log: so many refused requests have none. */
size_t uw_refusals_left_out_line(char line[UW_ACCESS_LINE_BYTES_MAX], time_t time, uint64_t count);

#endif
