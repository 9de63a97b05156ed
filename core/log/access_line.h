/* Formats a line of the access log, in the combined format, as a JSON object or for a terminal. */
#ifndef UW_LOG_ACCESS_LINE_H
#define UW_LOG_ACCESS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "http/version.h"
#include "log/line.h"

#define UW_ACCESS_TARGET_BYTES_MAX 2048  /* maximum with escapes; the rest is cut off */
#define UW_ACCESS_FIELD_BYTES_MAX 640    /* the same for Referer and for User-Agent */
#define UW_ACCESS_TERMINAL_BYTES_MAX 200 /* the same for the target at a terminal */

enum uw_access_format {
    UW_ACCESS_COMBINED,
    UW_ACCESS_JSON,
    UW_ACCESS_TERMINAL,
};

/* A request and its response. */
struct uw_access_record {
    time_t time;
    const char *remote;                                        /* the client's address */
    struct uw_access_text method, target, referer, user_agent; /* length 0: the text is absent */
    struct uw_access_text request_id, traceparent;
    enum uw_http_version version;
    int status;
    int64_t bytes;                    /* bytes of the content */
    bool served;                      /* by an application: the times are known */
    int64_t queue_ns, application_ns; /* before the application was called, and until it had answered */
    const char *worker;               /* the worker's number, or NULL */
    const char *tls;                  /* the version, or NULL */
};

/* Writes the line with its newline, without a NUL. Control characters, the delimiters of a field or a line, and all
 * bytes beyond ASCII are escaped. Returns the length. */
size_t uw_access_line(char line[UW_LOG_LINE_BYTES_MAX], enum uw_access_format format,
                      const struct uw_access_record *access);

/* Writes method and target as far as they have arrived, escaped. A hyphen stands for an absent method. */
void uw_line_put_request(struct uw_line *line, const struct uw_access_record *access, size_t target_bytes_max);

#endif
