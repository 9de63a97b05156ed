/* A published message, kept for later delivery: one reference-counted copy for all receivers. Belongs to one thread. */
#ifndef UW_PUB_SUB_STORED_MESSAGE_H
#define UW_PUB_SUB_STORED_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

struct uw_stored_message {
    unsigned references;
    bool text;
    size_t channel_length, length;
    char bytes[]; /* the channel's name, then the message */
};

/* Returns one reference; NULL when memory is exhausted. */
struct uw_stored_message *uw_stored_message_new(const char *channel, size_t channel_length, const char *message,
                                                size_t length, bool text);

static inline struct uw_stored_message *uw_stored_message_retain(struct uw_stored_message *stored)
{
    stored->references++;
    return stored;
}

/* NULL: does nothing. */
void uw_stored_message_release(struct uw_stored_message *stored);

#endif
