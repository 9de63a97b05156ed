/* The C library's memory: how much of what is freed it keeps. */
#ifndef UW_BASE_MEMORY_H
#define UW_BASE_MEMORY_H

/* Once a process, before it takes and gives back large pieces time and again: the pages of the next one are those of
 * the last, and the kernel need not clear others. What its environment asks of the C library stands. */
void uw_memory_keep(void);

#endif
