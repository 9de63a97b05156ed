#include "base/pipelined_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 4096

static void move_to_front(struct uw_pipelined_input *pending)
{
    if (pending->start)
        memmove(pending->memory, uw_pipelined_input_bytes(pending), pending->length);
    pending->start = 0;
}

static int grow_memory(struct uw_pipelined_input *pending, size_t length)
{
    size_t capacity = pending->capacity ? pending->capacity : CAPACITY_MIN;
    char *memory;

    while (capacity < length)
        capacity *= 2;
    memory = realloc(pending->memory, capacity);
    if (!memory)
        return -ENOMEM;
    pending->memory = memory;
    pending->capacity = capacity;
    return 0;
}

int uw_pipelined_input_append(struct uw_pipelined_input *pending, const char *bytes, size_t length)
{
    size_t sum = pending->length + length;
    int error = 0;

    if (pending->start + sum > pending->capacity)
        move_to_front(pending);
    if (sum > pending->capacity)
        error = grow_memory(pending, sum);
    if (error)
        return error;
    memcpy(uw_pipelined_input_bytes(pending) + pending->length, bytes, length);
    pending->length = sum;
    return 0;
}

void uw_pipelined_input_take(struct uw_pipelined_input *pending, size_t length)
{
    pending->start += length;
    pending->length -= length;
    if (!pending->length)
        uw_pipelined_input_free(pending);
}

char *uw_pipelined_input_give(struct uw_pipelined_input *pending, size_t *length)
{
    char *memory;

    move_to_front(pending);
    memory = pending->memory;
    *length = pending->length;
    *pending = (struct uw_pipelined_input){0};
    return memory;
}

void uw_pipelined_input_free(struct uw_pipelined_input *pending)
{
    free(pending->memory);
    *pending = (struct uw_pipelined_input){0};
}
