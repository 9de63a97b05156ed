/* The memory of a process, as the system counts it. */
#ifndef UW_METRICS_PROCESS_MEMORY_H
#define UW_METRICS_PROCESS_MEMORY_H

#include <stdint.h>

/* Return bytes, or -1 when the system does not tell: on other systems than Linux, for an ended process, or for lack of
 * rights. The second one adds only a share of each page that processes share, and costs the system more time. */
int64_t uw_process_resident_bytes(int64_t process);
int64_t uw_process_proportional_bytes(int64_t process);

#endif
