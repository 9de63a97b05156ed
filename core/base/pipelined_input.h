/* A queue of pipelined bytes. Removing bytes from the front does not move the rest. */
#ifndef UW_BASE_PIPELINED_INPUT_H
#define UW_BASE_PIPELINED_INPUT_H

#include <stddef.h>

struct uw_pipelined_input {
    char *memory; /* NULL if the queue is empty and owns no memory */
    size_t capacity, start, length;
};

static inline char *uw_pipelined_input_bytes(const struct uw_pipelined_input *pending)
{
    return pending->memory ? pending->memory + pending->start : NULL;
}

/* Returns 0 or -ENOMEM. */
int uw_pipelined_input_append(struct uw_pipelined_input *pending, const char *bytes, size_t length);

/* Removes the first `length` bytes. The memory is freed with the last byte. */
void uw_pipelined_input_take(struct uw_pipelined_input *pending, size_t length);

/* Drops the bytes, but keeps the memory valid for code that is reading the bytes. */
static inline void uw_pipelined_input_drop(struct uw_pipelined_input *pending)
{
    pending->start = pending->length = 0;
}

/* Transfers the bytes to the caller, which frees them with free(). */
char *uw_pipelined_input_give(struct uw_pipelined_input *pending, size_t *length);

void uw_pipelined_input_free(struct uw_pipelined_input *pending);

#endif
