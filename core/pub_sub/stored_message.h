/* A copy of a published message for later delivery. All receivers share it by counted references. Belongs to one
 * thread. */
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

/* Returns a message with one reference, or NULL without memory. */
struct uw_stored_message *uw_stored_message_new(const char *channel, size_t channel_length, const char *message,
                                                size_t length, bool text);

static inline struct uw_stored_message *uw_stored_message_retain(struct uw_stored_message *stored)
{
    stored->references++;
    return stored;
}

/* `stored` may be NULL. */
void uw_stored_message_release(struct uw_stored_message *stored);

#endif
