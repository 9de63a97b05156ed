#include "log/system_error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WHERE_BYTES_MAX 1024

static const char *const texts[UW_SYSTEM_ERRORS][2] = {
    [UW_SYSTEM_ERROR_CONTENT] = {"cannot store a request body in ",
                                 "; the client gets 503; set TMPDIR to a directory with space, or free memory"},
    [UW_SYSTEM_ERROR_ACCEPT] = {"cannot accept connections",
                                "; new clients wait; check the limit of open files (ulimit -n) and free memory"},
    [UW_SYSTEM_ERROR_FILE] = {"cannot read a file of the served directory",
                              "; check its permissions and disk, the limit of open files (ulimit -n) and free memory"},
    [UW_SYSTEM_ERROR_ACCESS_LOG] = {"access log lines were dropped",
                                    "; check the disk of the log, or the program that reads it"},
    [UW_SYSTEM_ERROR_BUS] = {"cannot deliver published messages to another process of this server",
                             "; these messages are lost; check the load of that process, the limit of open files "
                             "(ulimit -n) and free memory"},
};

/* The access log and the bus report ENOBUFS when their own buffer is full. strerror(3) would blame the kernel. */
static const char *cause_text(enum uw_system_error trouble, int error)
{
    if (error == ENOBUFS && trouble == UW_SYSTEM_ERROR_ACCESS_LOG)
        return "they were not written fast enough";
    if (error == ENOBUFS && trouble == UW_SYSTEM_ERROR_BUS)
        return "that process is too slow";
    return strerror(error);
}

/* Control characters in a file name must not break the line. */
static void replace_control_characters(char plain[WHERE_BYTES_MAX + 1], const char *where)
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

    replace_control_characters(plain, where);
    (void)snprintf(message, sizeof message, "%s%s: %s%s", texts[trouble][0], plain, cause_text(trouble, error),
                   texts[trouble][1]);
    return uw_server_line(line, form, time, message);
}
