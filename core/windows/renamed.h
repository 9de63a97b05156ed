/* What Windows and its C library have under the same name, and other than POSIX, has another in the object files. */
#ifndef UW_WINDOWS_RENAMED_H
#define UW_WINDOWS_RENAMED_H

#define UW_RENAMED(name) __asm__("uw_posix_" #name)

#endif
