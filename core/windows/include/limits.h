#ifndef UW_WINDOWS_LIMITS_H
#define UW_WINDOWS_LIMITS_H

#include_next <limits.h>

#define PIPE_BUF 4096
#ifndef PATH_MAX
#define PATH_MAX 4096
#endif
#ifndef NAME_MAX
#define NAME_MAX 765 /* bytes in UTF-8 of 255 UTF-16 units */
#endif

#endif
