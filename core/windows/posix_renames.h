/* Renames functions that the C library of Windows has under the same name, but with other semantics than POSIX. */
#ifndef UW_WINDOWS_POSIX_RENAMES_H
#define UW_WINDOWS_POSIX_RENAMES_H

#define UW_RENAMED(name) __asm__("uw_posix_" #name)

#endif
