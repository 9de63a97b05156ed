/* Formats lines of the access log: in the combined format, as JSON objects, or for a terminal. */
#ifndef UW_LOG_ACCESS_LINE_H
#define UW_LOG_ACCESS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "http/protocol_version.h"
#include "log/line.h"

#define UW_ACCESS_TARGET_BYTES_MAX 2048  /* bytes including escapes. The rest is cut off */
#define UW_ACCESS_FIELD_BYTES_MAX 640    /* the same for Referer and for User-Agent */
#define UW_ACCESS_TERMINAL_BYTES_MAX 200 /* the same for the target at a terminal */

enum uw_access_format {
    UW_ACCESS_COMBINED,
    UW_ACCESS_JSON,
    UW_ACCESS_TERMINAL,
};

/* A request and its response */
struct uw_access_record {
    time_t time;
    const char *remote;                                        /* the client's address */
    struct uw_access_text method, target, referer, user_agent; /* length 0: absent */
    struct uw_access_text request_id, traceparent;
    enum uw_http_version version;
    int status;
    int64_t bytes;                    /* bytes of the response content */
    bool served;                      /* by an application. The times are set */
    int64_t queue_ns, application_ns; /* before the application was called, and until it had answered */
    const char *worker;               /* the worker's number, or NULL */
    const char *tls;                  /* the version, or NULL */
};

/* Writes the line with a newline, without a NUL. Control characters, delimiters and bytes beyond ASCII are escaped.
 * Returns the length. */
size_t uw_access_line(char line[UW_LOG_LINE_BYTES_MAX], enum uw_access_format format,
                      const struct uw_access_record *access);

/* Appends the part of the request line that has arrived, escaped. "-" stands for an absent method. */
void uw_line_append_request_line(struct uw_line *line, const struct uw_access_record *access, size_t target_bytes_max);

#endif
