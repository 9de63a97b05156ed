/* Maps errors of Windows to errno. */
#ifndef UW_WINDOWS_ERRNO_MAP_H
#define UW_WINDOWS_ERRNO_MAP_H

#include <errno.h>
#include <stdint.h>

/* `error` is a code of GetLastError or WSAGetLastError. */
int uw_errno_of(unsigned long error);

/* `status` is an NTSTATUS. */
int uw_errno_of_status(int32_t status);

/* Sets errno and returns -1. */
static inline int uw_lacking(int error)
{
    errno = error;
    return -1;
}

#endif
