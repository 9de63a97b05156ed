/* Controls how much freed memory the C library keeps. */
#ifndef UW_BASE_MALLOC_TRIM_H
#define UW_BASE_MALLOC_TRIM_H

/* Call this before the process repeatedly allocates and frees large pieces. The C library then reuses pages, and the
 * kernel need not clear new pages. Settings in the environment keep precedence. A second call does nothing. */
void uw_malloc_keep(void);

/* Returns free memory to the system, including free pages between used pieces. This takes milliseconds for each 100 MB.
 * Does nothing without glibc. */
void uw_malloc_trim(void);

#endif
