#include "push/letter.h"

#include <stdlib.h>
#include <string.h>

struct uw_letter *uw_letter_new(const char *channel, size_t channel_length, const char *message, size_t length,
                                bool text)
{
    struct uw_letter *letter = malloc(sizeof *letter + channel_length + length);

    if (!letter)
        return NULL;
    *letter = (struct uw_letter){.holds = 1, .text = text, .channel_length = channel_length, .length = length};
    memcpy(letter->bytes, channel, channel_length);
    memcpy(letter->bytes + channel_length, message, length);
    return letter;
}

void uw_letter_release(struct uw_letter *letter)
{
    if (letter && --letter->holds == 0)
        free(letter);
}
