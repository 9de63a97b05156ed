/* Bytes received ahead of their turn: they come in at the end, and leave at the front without the rest being moved. */
#ifndef UW_HTTP1_PENDING_H
#define UW_HTTP1_PENDING_H

#include <stddef.h>

struct uw_pending {
    char *memory; /* NULL: none */
    size_t capacity, start, length;
};

static inline char *uw_pending_bytes(const struct uw_pending *pending)
{
    return pending->memory ? pending->memory + pending->start : NULL;
}

/* Returns 0 or -ENOMEM. */
int uw_pending_append(struct uw_pending *pending, const char *bytes, size_t length);

/* The first `length` bytes have been used; the memory is given back with the last. */
void uw_pending_take(struct uw_pending *pending, size_t length);

/* Forgets the bytes, not the memory: whoever uses them now may go on doing so. */
static inline void uw_pending_drop(struct uw_pending *pending)
{
    pending->start = pending->length = 0;
}

/* Hands the bytes over to the caller, who frees them. */
char *uw_pending_give(struct uw_pending *pending, size_t *length);

void uw_pending_free(struct uw_pending *pending);

#endif
