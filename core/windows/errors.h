/* The errors of Windows as errno. */
#ifndef UW_WINDOWS_ERRORS_H
#define UW_WINDOWS_ERRORS_H

#include <errno.h>
#include <stdint.h>

/* Of GetLastError and WSAGetLastError alike. */
int uw_errno_of(unsigned long error);

/* Of an NTSTATUS. */
int uw_errno_of_status(int32_t status);

/* -1, with errno. */
static inline int uw_lacking(int error)
{
    errno = error;
    return -1;
}

#endif
