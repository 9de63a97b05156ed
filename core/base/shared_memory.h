/* Memory that later child processes share with this process. */
#ifndef UW_BASE_SHARED_MEMORY_H
#define UW_BASE_SHARED_MEMORY_H

#include <stddef.h>

/* Returns zeroed memory, or NULL. */
void *uw_shared_memory_new(size_t bytes);

/* Other processes keep the memory. */
void uw_shared_memory_free(void *memory, size_t bytes);

#endif
