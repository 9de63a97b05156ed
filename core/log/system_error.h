/* Formats system errors for the server's own log. */
#ifndef UW_LOG_SYSTEM_ERROR_H
#define UW_LOG_SYSTEM_ERROR_H

#include <stddef.h>
#include <time.h>

#include "log/server_line.h"

enum uw_system_error {
    UW_SYSTEM_ERROR_CONTENT, /* the server cannot store the content of a request */
    UW_SYSTEM_ERROR_ACCEPT,  /* the server cannot accept a client */
    UW_SYSTEM_ERROR_FILE,    /* the server cannot read a file */
    UW_SYSTEM_ERROR_ACCESS_LOG,
    UW_SYSTEM_ERROR_BUS, /* another process of the server misses messages */
    UW_SYSTEM_ERRORS,
};

/* Writes a line of the server's own log. `where` is a directory, a file, or NULL. `error` is an errno. Returns the
 * length. */
size_t uw_system_error_line(char line[UW_LOG_LINE_BYTES_MAX], enum uw_log_form form, time_t time,
                            enum uw_system_error trouble, const char *where, int error);

#endif
