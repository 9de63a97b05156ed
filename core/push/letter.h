/* What was published, kept for those who get it later: one copy for all of them. Belongs to one thread. */
#ifndef UW_PUSH_LETTER_H
#define UW_PUSH_LETTER_H

#include <stdbool.h>
#include <stddef.h>

struct uw_letter {
    unsigned holds;
    bool text;
    size_t channel_length, length;
    char bytes[]; /* the channel's name, then the message */
};

/* Held by the caller; NULL when memory is exhausted. */
struct uw_letter *uw_letter_new(const char *channel, size_t channel_length, const char *message, size_t length,
                                bool text);

static inline struct uw_letter *uw_letter_hold(struct uw_letter *letter)
{
    letter->holds++;
    return letter;
}

/* NULL: does nothing. */
void uw_letter_release(struct uw_letter *letter);

#endif
