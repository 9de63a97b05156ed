#include "pub_sub/stored_message.h"

#include <stdlib.h>
#include <string.h>

struct uw_stored_message *uw_stored_message_new(const char *channel, size_t channel_length, const char *message,
                                                size_t length, bool text)
{
    struct uw_stored_message *stored = malloc(sizeof *stored + channel_length + length);

    if (!stored)
        return NULL;
    *stored =
        (struct uw_stored_message){.references = 1, .text = text, .channel_length = channel_length, .length = length};
    memcpy(stored->bytes, channel, channel_length);
    memcpy(stored->bytes + channel_length, message, length);
    return stored;
}

void uw_stored_message_release(struct uw_stored_message *stored)
{
    if (stored && --stored->references == 0)
        free(stored);
}
