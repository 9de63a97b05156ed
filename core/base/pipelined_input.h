/* A queue of pipelined bytes. Bytes are appended at the end and removed at the front, without moving the rest. */
#ifndef UW_BASE_PIPELINED_INPUT_H
#define UW_BASE_PIPELINED_INPUT_H

#include <stddef.h>

struct uw_pipelined_input {
    char *memory; /* NULL: no memory */
    size_t capacity, start, length;
};

static inline char *uw_pipelined_input_bytes(const struct uw_pipelined_input *pending)
{
    return pending->memory ? pending->memory + pending->start : NULL;
}

/* Returns 0 or -ENOMEM. */
int uw_pipelined_input_append(struct uw_pipelined_input *pending, const char *bytes, size_t length);

/* Removes the first `length` bytes. Frees the memory with the last byte. */
void uw_pipelined_input_take(struct uw_pipelined_input *pending, size_t length);

/* Drops the bytes, but keeps the memory: code that reads the bytes at this moment may continue. */
static inline void uw_pipelined_input_drop(struct uw_pipelined_input *pending)
{
    pending->start = pending->length = 0;
}

/* Hands the bytes to the caller, which frees them. */
char *uw_pipelined_input_give(struct uw_pipelined_input *pending, size_t *length);

void uw_pipelined_input_free(struct uw_pipelined_input *pending);

#endif
