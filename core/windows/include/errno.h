#ifndef UW_WINDOWS_ERRNO_H
#define UW_WINDOWS_ERRNO_H

#include_next <errno.h>

#define EUSERS 201 /* beyond those of the C library */
#define ESHUTDOWN 202

#endif
