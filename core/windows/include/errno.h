#ifndef UW_WINDOWS_ERRNO_H
#define UW_WINDOWS_ERRNO_H

#include_next <errno.h>

#define EUSERS 201 /* codes that the C library lacks */
#define ESHUTDOWN 202
#define ESTALE 203

#endif
