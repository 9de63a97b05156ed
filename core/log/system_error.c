#include "log/system_error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WHERE_BYTES_MAX 1024

static const char *const texts[UW_SYSTEM_ERRORS][2] = {
    [UW_SYSTEM_ERROR_CONTENT] = {"cannot store a request body in ", "; the client gets 503"},
    [UW_SYSTEM_ERROR_ACCEPT] = {"cannot accept connections", "; new clients wait"},
    [UW_SYSTEM_ERROR_FILE] = {"cannot read a file of the served directory",
                              "; check its disk, the limit of open files (ulimit -n) and free memory"},
    [UW_SYSTEM_ERROR_ACCESS_LOG] = {"access log lines were dropped", ""},
    [UW_SYSTEM_ERROR_BUS] = {"cannot deliver published messages to another process of this server",
                             "; these messages are lost"},
};

/* These logs report ENOBUFS when their own buffer is full; the system's text would blame the kernel. */
static const char *reason(enum uw_system_error trouble, int error)
{
    if (error == ENOBUFS && trouble == UW_SYSTEM_ERROR_ACCESS_LOG)
        return "the disk or the reader of the log is too slow";
    if (error == ENOBUFS && trouble == UW_SYSTEM_ERROR_BUS)
        return "that process is too slow";
    return strerror(error);
}

/* Control characters in a file's name must not break the line. */
static void copy_plain(char plain[WHERE_BYTES_MAX + 1], const char *where)
{
    size_t length = 0;

    for (; where && *where && length < WHERE_BYTES_MAX; where++)
        plain[length++] = *where < ' ' || *where > '~' ? '?' : *where;
    plain[length] = '\0';
}

size_t uw_system_error_line(char line[UW_LOG_LINE_BYTES_MAX], enum uw_log_form form, time_t time,
                            enum uw_system_error trouble, const char *where, int error)
{
    char plain[WHERE_BYTES_MAX + 1], message[UW_LOG_MESSAGE_BYTES_MAX + 1];

    copy_plain(plain, where);
    (void)snprintf(message, sizeof message, "%s%s: %s%s", texts[trouble][0], plain, reason(trouble, error),
                   texts[trouble][1]);
    return uw_server_line(line, form, time, message);
}
